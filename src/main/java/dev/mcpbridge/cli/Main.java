package dev.mcpbridge.cli;

import dev.mcpbridge.Version;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The program {@code mcp-bridge}. */
@Command(
    name = "mcp-bridge",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Versions.class,
    description = "Tool servers behind one gate, over plain HTTP.",
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:it failed: the bridge refused, a tool said isError, a file is wrong",
      "2:the command line is wrong",
      "3:a confirmation is needed first"
    },
    subcommands = {
      ServeCommand.class,
      CheckCommand.class,
      KeyCommand.class,
      ToolsCommand.class,
      CallCommand.class,
      ConfirmCommand.class,
      GitServerCommand.class,
      GenerateCompletion.class
    })
public final class Main {
  static final int FAILED = 1;
  static final int NEEDS_CONFIRMATION = 3;

  private Main() {}

  public static void main(String[] args) {
    CommandLine commands = new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true);
    commands
        .getSubcommands()
        .get("generate-completion")
        .getCommandSpec()
        .usageMessage()
        .hidden(true);
    if (args.length == 0) {
      commands.usage(System.out);
      System.exit(CommandLine.ExitCode.USAGE);
    }
    int status = commands.execute(args);
    if (status != ServeCommand.RUNNING) {
      System.exit(status);
    }
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
