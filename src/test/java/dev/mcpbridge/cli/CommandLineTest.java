package dev.mcpbridge.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;

/** Help texts, and errors for invalid command lines. */
class CommandLineTest {
  private static final int NORMAL = 80;
  private static final int WIDE = 1_000;

  private record Output(int status, String out, String err) {}

  private static Output run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.program(arguments[0])
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(arguments);
    return new Output(status, out.toString(), err.toString());
  }

  private static String help(String... command) {
    Output output =
        run(Stream.concat(Stream.of(command), Stream.of("--help")).toArray(String[]::new));
    assertEquals(0, output.status(), output.toString());
    return output.out();
  }

  private static List<CommandLine> all() {
    List<CommandLine> all = new ArrayList<>();
    collect(Main.program(""), all);
    return all;
  }

  private static void collect(CommandLine command, List<CommandLine> all) {
    all.add(command);
    command.getSubcommands().values().forEach(each -> collect(each, all));
  }

  @TestFactory
  Stream<DynamicTest> helpTextsBreakOnlyBetweenWords() {
    return all().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .map(
            command ->
                DynamicTest.dynamicTest(
                    command.getCommandSpec().qualifiedName(), () -> assertWordsAreWhole(command)));
  }

  private static void assertWordsAreWhole(CommandLine command) {
    String shown = command.setUsageHelpWidth(NORMAL).getUsageMessage();
    String wide = command.setUsageHelpWidth(WIDE).getUsageMessage();
    Set<String> words = Stream.of(wide.split("\\s+")).collect(Collectors.toSet());
    for (String line : shown.lines().toList()) {
      assertTrue(line.length() <= NORMAL, line);
      for (String word : line.strip().split("\\s+")) {
        assertTrue(word.isEmpty() || words.contains(word), word + " in: " + line);
      }
    }
  }

  @Test
  void helpNamesTheEnvironmentVariablesOfTheCommand() {
    for (String command : List.of("tools", "call", "confirm", "agent")) {
      assertTrue(help(command).contains("MCP_BRIDGE_URL"), command);
    }
    for (String command : List.of("tools", "call", "confirm", "agent", "stdio")) {
      assertTrue(help(command).contains("MCP_BRIDGE_KEY"), command);
    }
    for (String[] command :
        new String[][] {{"serve"}, {"stdio"}, {"check"}, {"agent"}, {"sandbox", "check"}}) {
      String help = help(command);
      for (String variable : List.of("MCP_CONFIG_PATH", "PORT", "MCP_SERVER_<NAME>_COMMAND")) {
        assertTrue(help.contains(variable), help);
      }
    }
    for (String variable : List.of("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")) {
      assertTrue(help("agent").contains(variable), variable);
    }
    assertTrue(help("sandbox", "check").contains("DOCKER_HOST"));
  }

  @Test
  void helpIsACommand() {
    assertEquals(help("call"), run("help", "call").out());
    assertTrue(run("help").out().contains("serve"), run("help").out());
    assertInvalid("nonsense", "help", "nonsense");
  }

  @Test
  void invalidCommandLinePrintsOneLineThatRefersToHelp() {
    assertInvalid("'loud'", "serve", "--log", "loud");
    assertInvalid("DEBUG, INFO, WARNING, ERROR", "serve", "--log", "loud");
    assertInvalid("(see mcp-bridge serve --help)", "serve", "--log", "loud");
    assertInvalid("from 0 to 65535", "serve", "--port", "99999");
    assertInvalid("--grace", "serve", "--grace", "-1");
    assertInvalid("did you mean tools or doctor?", "tool");
    assertInvalid("TOOL", "call", "git");
    assertInvalid("KEY=VALUE", "call", "git", "git_log", "x");
    assertInvalid("mcp-bridge key new NAME", "key");
    assertInvalid("subcommand", "sandbox");
    for (String command : List.of("tools", "confirm", "stdio", "agent")) {
      assertInvalid("http://127.0.0.1:3000", command, "--url", "localhost:3000");
    }
  }

  private static void assertInvalid(String why, String... arguments) {
    Output output = run(arguments);
    assertEquals(2, output.status(), output.toString());
    assertEquals("", output.out());
    assertEquals(1, output.err().lines().count(), output.err());
    assertTrue(output.err().contains(why), output.err());
  }
}
