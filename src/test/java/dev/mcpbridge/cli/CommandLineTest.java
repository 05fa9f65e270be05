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

/** What the program says of itself, and of a command line that is wrong. */
class CommandLineTest {
  private static final int USUAL = 80;
  private static final int WIDE = 1_000;

  private record Said(int status, String out, String err) {}

  private static Said run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.program(arguments[0])
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(arguments);
    return new Said(status, out.toString(), err.toString());
  }

  private static String help(String... command) {
    Said said = run(Stream.concat(Stream.of(command), Stream.of("--help")).toArray(String[]::new));
    assertEquals(0, said.status(), said.toString());
    return said.out();
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
  Stream<DynamicTest> noHelpTextBreaksInsideAWord() {
    return all().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .map(
            command ->
                DynamicTest.dynamicTest(
                    command.getCommandSpec().qualifiedName(), () -> keepsItsWords(command)));
  }

  private static void keepsItsWords(CommandLine command) {
    String shown = command.setUsageHelpWidth(USUAL).getUsageMessage();
    String wide = command.setUsageHelpWidth(WIDE).getUsageMessage();
    Set<String> words = Stream.of(wide.split("\\s+")).collect(Collectors.toSet());
    for (String line : shown.lines().toList()) {
      assertTrue(line.length() <= USUAL, line);
      for (String word : line.strip().split("\\s+")) {
        assertTrue(word.isEmpty() || words.contains(word), word + " in: " + line);
      }
    }
  }

  @Test
  void theHelpOfACommandNamesTheVariablesThatItReads() {
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
    assertWrong("nonsense", "help", "nonsense");
  }

  @Test
  void aWrongCommandLineIsOneLineThatSaysWhereTheRightOneIsTold() {
    assertWrong("'loud'", "serve", "--log", "loud");
    assertWrong("DEBUG, INFO, WARNING, ERROR", "serve", "--log", "loud");
    assertWrong("(see mcp-bridge serve --help)", "serve", "--log", "loud");
    assertWrong("from 0 to 65535", "serve", "--port", "99999");
    assertWrong("--grace", "serve", "--grace", "-1");
    assertWrong("did you mean tools?", "tool");
    assertWrong("TOOL", "call", "git");
    assertWrong("KEY=VALUE", "call", "git", "git_log", "x");
    assertWrong("mcp-bridge key new NAME", "key");
    assertWrong("subcommand", "sandbox");
    for (String command : List.of("tools", "confirm", "stdio", "agent")) {
      assertWrong("http://127.0.0.1:3000", command, "--url", "localhost:3000");
    }
  }

  private static void assertWrong(String why, String... arguments) {
    Said said = run(arguments);
    assertEquals(2, said.status(), said.toString());
    assertEquals("", said.out());
    assertEquals(1, said.err().lines().count(), said.err());
    assertTrue(said.err().contains(why), said.err());
  }
}
