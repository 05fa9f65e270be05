package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.OpenIdProvider;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.StdioPeer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packaged program, whose user logs in at a real issuer. */
@Tag("access")
class LoginCommandIT {
  private static final Pattern HIDDEN = Pattern.compile("name=\"xsrf\" value=\"([^\"]+)\"");
  private static final String[] CALL = {"call", "s", "echo", "text=hello"};

  @TempDir private static Path log;
  @AutoClose private static OpenIdProvider provider;
  @AutoClose private static TestBridge bridge;
  @TempDir Path home;

  /** What a command printed, and its exit code. */
  private record Ended(int code, String out) {}

  @BeforeAll
  static void start() throws Exception {
    provider = new OpenIdProvider(log);
    bridge =
        TestBridge.of(
            "{'auth':{'issuers':[{'name':'corp','issuer':'%s'}]},'mcpServers':{'s':%s}}"
                .formatted(provider.issuer(), TestBridge.entry("")));
  }

  private static String url() {
    return "http://127.0.0.1:" + bridge.port();
  }

  private Process program(String... arguments) throws IOException {
    return builder(arguments).redirectErrorStream(true).start();
  }

  private ProcessBuilder builder(String... arguments) {
    ProcessBuilder builder = new ProcessBuilder(PackagedProgram.command(arguments));
    builder.environment().put("XDG_STATE_HOME", home.toString());
    builder.environment().put("MCP_BRIDGE_URL", url());
    builder.environment().remove("MCP_BRIDGE_KEY");
    return builder.redirectError(ProcessBuilder.Redirect.DISCARD);
  }

  private Ended run(String... arguments) throws Exception {
    return ended(program(arguments));
  }

  private static Ended ended(Process process) throws Exception {
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), out);
    return new Ended(process.exitValue(), out);
  }

  private static ConsentBrowser browserOf(String user) {
    return new ConsentBrowser().withCookie(provider.issuer(), "user", user);
  }

  private Ended logIn(String user) throws Exception {
    Process login = program("login");
    BufferedReader lines = login.inputReader(StandardCharsets.UTF_8);
    assertEquals("Open this address in your browser:", lines.readLine());
    ConsentBrowser browser = browserOf(user);
    URI back = browser.followTo(URI.create(lines.readLine()), "http://127.0.0.1:");
    while (!back.getPath().equals("/callback")) {
      back = browser.followTo(back, "http://127.0.0.1:");
    }
    assertEquals(200, browser.open(back).statusCode());
    return ended(login, lines);
  }

  private static Ended ended(Process process, BufferedReader lines) throws Exception {
    StringBuilder out = new StringBuilder();
    lines.lines().forEach(out::append);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), out.toString());
    return new Ended(process.exitValue(), out.toString());
  }

  @Test
  void commandsActAsTheUserUntilTheLogout() throws Exception {
    assertEquals(new Ended(0, "Logged in to " + url() + " as corp|bob"), logIn("bob"));

    Ended called = run(CALL);
    assertEquals(0, called.code(), called.out());
    assertTrue(called.out().contains("hello"), called.out());

    assertEquals("Logged out of " + url() + "\n", run("logout").out());
    Ended refused = run(CALL);
    assertEquals(1, refused.code(), refused.out());
    assertTrue(refused.out().contains("run mcp-bridge login"), refused.out());
  }

  @Test
  void stdioRelayActsAsTheUser() throws Exception {
    logIn("carol");

    try (StdioPeer relay = new StdioPeer(builder("stdio", "--url", url(), "--server", "s"))) {
      initialize(relay);

      String answer =
          relay.ask("tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"}");

      assertTrue(answer.contains("hello"), answer);
    }
  }

  private static void initialize(StdioPeer relay) throws IOException {
    relay.ask(
        "initialize",
        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
            + "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}");
  }

  @Test
  void relayWhoseLoginEndsSaysSoAndGoesOnAfterTheNext() throws Exception {
    logIn("fred");
    try (StdioPeer relay = new StdioPeer(builder("stdio", "--url", url(), "--server", "s"))) {
      initialize(relay);
      change(login -> login.put("expires", 1).put("refresh", "revoked"));

      String ended = relay.ask("tools/list", "");

      assertTrue(ended.contains("The login has ended"), ended);
      logIn("fred");
      String answer = relay.ask("tools/list", "");
      assertTrue(answer.contains("echo"), answer);
    }
  }

  /** Changes the stored login. */
  private void change(Consumer<ObjectNode> change) throws IOException {
    Path file = home.resolve("mcp-bridge/logins.json");
    ObjectNode logins = (ObjectNode) Json.tree(Files.readAllBytes(file));
    change.accept((ObjectNode) logins.get(url()));
    Files.writeString(file, logins.toString());
  }

  @Test
  void commandsThatRunAtOnceRenewALoginOnce() throws Exception {
    logIn("dora");
    change(login -> login.put("expires", 1));

    List<Process> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      calls.add(program(CALL));
    }

    for (Process each : calls) {
      Ended ended = ended(each);
      assertEquals(0, ended.code(), ended.out());
    }
  }

  @Test
  void codeIsEnteredOnAnotherMachine() throws Exception {
    Process login = program("login", "--device");
    BufferedReader lines = login.inputReader(StandardCharsets.UTF_8);
    String[] words = lines.readLine().split(" ");
    URI page = URI.create(words[1]);
    ConsentBrowser browser = browserOf("erin");

    String form = "xsrf=" + xsrf(browser.open(page)) + "&user_code=" + words[words.length - 1];
    HttpResponse<String> confirm = browser.submit(page, form, provider.issuer());
    form = "xsrf=" + xsrf(confirm) + "&user_code=" + words[words.length - 1] + "&confirm=yes";
    browser.follow(browser.submit(page, form, provider.issuer()));

    assertEquals(new Ended(0, "Logged in to " + url() + " as corp|erin"), ended(login, lines));
    assertEquals(0, run(CALL).code());
  }

  private static String xsrf(HttpResponse<String> page) {
    Matcher found = HIDDEN.matcher(page.body());
    assertTrue(found.find(), page.statusCode() + page.body());
    return found.group(1);
  }
}
