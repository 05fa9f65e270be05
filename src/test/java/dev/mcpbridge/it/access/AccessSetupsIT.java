package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.OpenIdProvider;
import dev.mcpbridge.fixture.PastedPage;
import dev.mcpbridge.fixture.PastedPage.Block;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.Requirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jgit.api.Git;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The set-ups of access.md, with a real issuer and a server that needs tokens in place of those in
 * the page.
 */
@Tag("access")
class AccessSetupsIT {
  private static final String USER = "dana";
  private static final Pattern LINK = Pattern.compile("http\\S+/connect/\\S+");

  @TempDir private static Path log;
  @AutoClose private static ProtectedServer notes;
  @AutoClose private static OpenIdProvider provider;
  private static String port;

  @BeforeAll
  static void start() throws Exception {
    Requirements.program("curl");
    port = Integer.toString(FreePorts.find(1).get(0));
    provider = new OpenIdProvider(log, url() + "/oauth/callback");
    notes = new ProtectedServer();
    notes.userIs(USER);
  }

  private static String url() {
    return "http://127.0.0.1:" + port;
  }

  private static String here(String text) {
    return text.replace("3000", port)
        .replace("https://tools.example.org", url())
        .replace("https://id.example.org", provider.issuer())
        .replace("https://notes.example.org/mcp", notes.url("/mcp"))
        .replace("\"oauth\": {}", "\"oauth\": {\"allowLoopback\": true}")
        .replace("\"clientId\": \"mcp-bridge\"", "\"clientId\": \"pages\"")
        .replace("the-secret-of-the-client", "pages-secret");
  }

  /** The folder of a clone: a repository with what the commands use. */
  private static Path project(Path folder) throws Exception {
    Path project = Files.createDirectories(folder.resolve("mcp-bridge/conf")).getParent();
    for (String file : List.of("team.json", "company.json", "per-user.json")) {
      String text = Files.readString(Path.of("conf", file));
      Files.writeString(project.resolve("conf").resolve(file), here(text));
    }
    Path built = Path.of(System.getProperty("bridge.jar")).toAbsolutePath().getParent();
    Files.createSymbolicLink(project.resolve("target"), built);
    try (Git git = Git.init().setInitialBranch("main").setDirectory(project.toFile()).call()) {
      git.add().addFilepattern("conf").call();
      git.commit().setMessage("Add conf").setAuthor("A", "a@b.example").setSign(false).call();
    }
    return project;
  }

  /** Opens the address of a login, in place of a user and a browser. */
  private static String withBrowser(String line) {
    return line.startsWith("target/mcp-bridge login")
        ? line
            + " 2>&1 | while read -r line; do echo \"$line\"; case $line in http*)"
            + " curl -sSL -o /dev/null -b user=dana -c cookies \"$line\";; esac; done"
        : line;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "A team with keys and roles",
        "Users of an OpenID provider",
        "Each user's own rights at a server"
      })
  void commandsPrintWhatThePageShows(String section, @TempDir Path folder) throws Exception {
    List<Block> blocks =
        PastedPage.blocks(here(Files.readString(Path.of("src/docs/access.md")))).stream()
            .filter(block -> block.section().equals(section))
            .toList();
    assertFalse(blocks.isEmpty());
    Map<String, String> environment =
        Map.of("HOME", folder.toString(), "XDG_STATE_HOME", folder.resolve("state").toString());
    try (PastedPage page =
        new PastedPage(project(folder), environment, AccessSetupsIT::withBrowser)) {
      for (Block block : blocks) {
        connect(page.paste(block.text()));
      }
    }
  }

  /** The user opens the link that a command printed, and agrees. */
  private static void connect(String printed) throws Exception {
    Matcher link = LINK.matcher(printed);
    if (link.find()) {
      ConsentBrowser browser = new ConsentBrowser().withCookie(provider.issuer(), "user", USER);
      assertEquals(200, browser.connect(link.group(), Map.of()).statusCode());
    }
  }
}
