package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.fixture.BusyboxImage;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.PastedPage;
import dev.mcpbridge.fixture.PastedPage.Block;
import dev.mcpbridge.fixture.PseudoTerminal;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.eclipse.jgit.api.Git;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the blocks of the README, one after the other, in one shell in a new folder. Their output
 * has to match the output in the README.
 */
@Tag("program")
class ReadmeIT {
  /** The README, and the tour that continues it in the same shell. */
  private static final List<Path> PAGES =
      List.of(Path.of("README.md"), Path.of("src/docs/tour.md"));

  /** The section whose block is not run, since it would run this test. */
  private static final String NOT_RUN = "Test it";

  /** Ports that are replaced by free ones, in the README and in the files of the clone. */
  private static final Pattern PORTS = Pattern.compile("\\b(300[0-5]|4010|780[1-3])\\b");

  @TempDir static Path folder;
  private static final Map<String, String> ports = new HashMap<>();
  private static PastedPage page;
  private static BusyboxImage image;

  /** Replaces commands that need a network or a build. */
  private static String replacement(String line) throws Exception {
    if (line.startsWith("git clone ")) {
      return line.replace("<address of this repository>", folder.resolve("origin").toString());
    }
    if (line.equals("mvn -q -DskipTests package")) {
      Path built = Path.of(System.getProperty("bridge.jar")).toAbsolutePath().getParent();
      return "mkdir target && ln -s '" + built + "'/mcp-bridge* target/";
    }
    if (line.equals("docker pull busybox")) {
      return "docker image inspect busybox >/dev/null";
    }
    if (line.startsWith("npm install ")) {
      Requirements.program("npx");
      Path installed = Requirements.npmProgram("openapi-fetch").getParent();
      return "ln -s '" + installed + "' node_modules";
    }
    return line;
  }

  @BeforeAll
  static void open() throws Exception {
    Requirements.program("git");
    Requirements.program("curl");
    Iterator<Integer> free = FreePorts.find(10).iterator();
    for (int port : new int[] {3000, 3001, 3002, 3003, 3004, 3005, 4010, 7801, 7802, 7803}) {
      ports.put(Integer.toString(port), Integer.toString(free.next()));
    }
    publish(folder.resolve("origin"));
    page = new PastedPage(folder, environment(), ReadmeIT::replacement);
  }

  @AfterAll
  static void close() throws Exception {
    if (page != null) {
      page.close();
    }
    if (image != null) {
      image.close();
    }
  }

  private static Map<String, String> environment() throws IOException {
    return Map.of(
        "HOME",
        Files.createDirectories(folder.resolve("home")).toString(),
        "MCP_BRIDGE_URL",
        "http://127.0.0.1:" + ports.get("3000"));
  }

  /** A repository of the project, without its sources and with free ports. */
  private static void publish(Path origin) throws Exception {
    try (Git git = Git.init().setInitialBranch("main").setDirectory(origin.toFile()).call()) {
      for (String part : List.of(".gitignore", "README.md", "conf", "src/main", "src/demo")) {
        try (Stream<Path> files = Files.walk(Path.of(part))) {
          for (Path file : files.filter(Files::isRegularFile).toList()) {
            if (!file.startsWith("src/main/java") && !file.startsWith("src/main/resources")) {
              Files.createDirectories(origin.resolve(file).getParent());
              Files.writeString(origin.resolve(file), onFreePorts(Files.readString(file)));
            }
          }
        }
        git.add().addFilepattern(".").call();
        git.commit().setMessage("Add " + part).setAuthor("A", "a@b.example").setSign(false).call();
      }
    }
  }

  private static String onFreePorts(String text) {
    return PORTS.matcher(text).replaceAll(port -> ports.get(port.group()));
  }

  private static List<Block> blocks() throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (Path page : PAGES) {
      blocks.addAll(PastedPage.blocks(onFreePorts(Files.readString(page))));
    }
    return blocks;
  }

  @TestFactory
  Stream<DynamicTest> everyBlockWorksInOrder() throws IOException {
    return blocks().stream()
        .filter(block -> !block.section().equals(NOT_RUN) && !block.language().equals("mermaid"))
        .map(
            block ->
                DynamicTest.dynamicTest(
                    block.section() + ": " + block.text().lines().findFirst().orElse(""),
                    () -> run(block)));
  }

  private static void run(Block block) throws Exception {
    if (block.section().equals("Three levels") && image == null) {
      image = new BusyboxImage(Engine.at(null));
    }
    switch (block.language()) {
      case "sh" -> page.paste(block.text());
      case "console" -> converse(block.text().lines().toList());
      case "json" ->
          new ConfigReader(Map.of()).read(block.text(), ConfigReader.Strictness.ALL_OR_NOTHING);
      default -> throw new AssertionError("unknown language of a block: " + block.language());
    }
  }

  /** Input follows $, > or a question with "Run it?"; all other lines are expected output. */
  private static void converse(List<String> block) throws Exception {
    List<String> command = List.of(block.get(0).substring(2).split(" "));
    try (PseudoTerminal terminal =
        PseudoTerminal.start(80, folder.resolve("mcp-bridge"), environment(), command)) {
      for (String line : block) {
        if (line.startsWith(">")) {
          terminal.awaitPrompt();
          terminal.type(line.substring(1).strip() + "\r");
        } else if (line.contains("Run it?")) {
          terminal.await("Run it?");
          terminal.type(line.substring(line.lastIndexOf(':') + 1).strip() + "\r");
        }
      }
      assertEquals(0, terminal.exit());
      Iterator<String> shown = PseudoTerminal.lines(terminal.all()).iterator();
      block.stream()
          .skip(1)
          .filter(line -> !line.startsWith(">"))
          .forEach(line -> assertTrue(isShown(line, shown), line + "\n--\n" + terminal.all()));
    }
  }

  private static boolean isShown(String line, Iterator<String> shown) {
    Sample sample = new Sample(line);
    while (shown.hasNext()) {
      if (sample.matchesEndOf(shown.next())) {
        return true;
      }
    }
    return false;
  }
}
