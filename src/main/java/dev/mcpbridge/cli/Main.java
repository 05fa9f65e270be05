package dev.mcpbridge.cli;

import dev.mcpbridge.Version;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.protocol.HiddenCharacters;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The program {@code mcp-bridge}. */
@Command(
    name = "mcp-bridge",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Versions.class,
    description = "Tool servers behind one gate, over plain HTTP.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {"", "Options for Java are read from MCP_BRIDGE_JAVA_OPTS in the environment."},
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:success",
      "1:failure: a refused request, a tool result with isError, an invalid file",
      "2:invalid command line",
      "3:a confirmation is needed first"
    })
public final class Main {
  static final int FAILED = 1;
  static final int NEEDS_CONFIRMATION = 3;

  private Main() {}

  public static void main(String[] args) {
    String name = args.length == 0 ? "" : args[0];
    if (name.equals("serve")) {
      // first of all: whatever logs would choose the manager of the log
      System.getProperties()
          .putIfAbsent("java.util.logging.manager", UninterruptedLog.class.getName());
      ServeCommand.prepare();
    }
    CommandLine program = program(name);
    if (args.length == 0) {
      program.usage(System.out);
      System.exit(CommandLine.ExitCode.USAGE);
    }
    int status = program.execute(args);
    if (status != ServeCommand.RUNNING) {
      System.exit(status);
    }
  }

  /** Commands that start often load only their own annotations: reading all of them is slow. */
  static CommandLine program(String name) {
    CommandLine program = new CommandLine(new Main());
    switch (name) {
      case "serve" -> program.addSubcommand(new ServeCommand());
      case "agent" -> program.addSubcommand(new AgentCommand());
      case "git-server" -> program.addSubcommand(new GitServerCommand());
      default -> addAll(program);
    }
    return program
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(Main::refuse)
        .setExecutionExceptionHandler(Main::fail);
  }

  /** Prints one line for an invalid command line: the problem, and where to find help. */
  private static int refuse(ParameterException invalid, String[] args) {
    String suggestion =
        invalid instanceof UnmatchedArgumentException unmatched
                && !unmatched.getSuggestions().isEmpty()
            ? "; did you mean " + String.join(" or ", unmatched.getSuggestions()) + "?"
            : "";
    CommandLine command = invalid.getCommandLine();
    command
        .getErr()
        .println(
            invalid.getMessage()
                + suggestion
                + " (see "
                + command.getCommandSpec().qualifiedName()
                + " --help)");
    return CommandLine.ExitCode.USAGE;
  }

  /**
   * Prints the message of an expected failure; any other exception is a bug and keeps its trace.
   */
  private static int fail(Exception failure, CommandLine command, ParseResult parsed)
      throws Exception {
    if (failure instanceof BridgeException expected) {
      command.getErr().println(HiddenCharacters.escaped(expected.getMessage()));
      return FAILED;
    }
    throw failure;
  }

  private static void addAll(CommandLine program) {
    program
        .addSubcommand(new ServeCommand())
        .addSubcommand(new StdioCommand())
        .addSubcommand(new CheckCommand())
        .addSubcommand(new DoctorCommand())
        .addSubcommand(new HealthCommand())
        .addSubcommand(new KeyCommand())
        .addSubcommand(new LoginCommand())
        .addSubcommand(new LogoutCommand())
        .addSubcommand(new SandboxCommand())
        .addSubcommand(new ClusterCommand())
        .addSubcommand(new AccessCommand())
        .addSubcommand(new PinsCommand())
        .addSubcommand(new AuditCommand())
        .addSubcommand(new ConnectCommand())
        .addSubcommand(new SearchCommand())
        .addSubcommand(new AddCommand())
        .addSubcommand(new ToolsCommand())
        .addSubcommand(new CallCommand())
        .addSubcommand(new ConfirmCommand())
        .addSubcommand(new AgentCommand())
        .addSubcommand(new GitServerCommand())
        .addSubcommand(new HelpCommand())
        .addSubcommand(new GenerateCompletion());
    program
        .getSubcommands()
        .get("generate-completion")
        .getCommandSpec()
        .usageMessage()
        .hidden(true);
  }

  static final class Versions implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "mcp-bridge " + Version.current(),
        "Java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")"
      };
    }
  }
}
