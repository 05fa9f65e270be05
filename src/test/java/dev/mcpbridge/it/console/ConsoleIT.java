package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Accessibility;
import dev.mcpbridge.fixture.Browser;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console in a real browser, at a real bridge. */
@Tag("program")
class ConsoleIT {
  private static final String ALICE = ApiKeys.generate();
  private static final String BOSS = ApiKeys.generate();
  private static final String READER = ApiKeys.generate();

  private static final String TOOLS =
      """
      [{"name":"greet","description":"Greets a person.","annotations":{"readOnlyHint":true},
        "inputSchema":{"type":"object","required":["name"],"properties":{
          "name":{"type":"string","title":"Name of the person"},
          "count":{"type":"integer"},
          "tone":{"enum":["kind","plain"]},
          "tags":{"type":"array","items":{"type":"string"}},
          "extra":{"type":"object","additionalProperties":{"type":"number"}}}}},
       {"name":"erase","description":"Erases what is named.","annotations":{"destructiveHint":true},
        "inputSchema":{"type":"object"}},
       {"name":"swap","description":"Swaps.","inputSchema":{"type":"object"}}]
      """;

  @TempDir static Path folder;
  private static TestBridge bridge;
  private static Browser browser;

  @BeforeAll
  static void open() throws Exception {
    browser = new Browser(folder.resolve("profile"));
    String keys =
        TestBridge.auth(
            TestBridge.key("alice", ALICE, "'read','call'"),
            TestBridge.key("boss", BOSS, "'read','call','approve','admin','audit'"),
            TestBridge.key("reader", READER, "'read'"));
    String risk = "'risk':{'tools':{'erase':2,'swap':2}}";
    String config =
        "{%s,'pins':{'changed':'warn'},'audit':{'folder':'%s'},'mcpServers':{'t':%s,'s':%s,'gone':{'command':'false'}}}"
            .formatted(
                keys,
                folder.resolve("audit"),
                CatalogueServer.entry(folder.resolve("tools.json"), TOOLS, risk),
                TestBridge.entry(""));
    bridge = TestBridge.of(config);
    for (String server : List.of("t", "s")) {
      bridge.until(() -> boss("/servers/" + server).at("/state").equals("ready"));
    }
  }

  @AfterAll
  static void close() throws Exception {
    if (browser != null) {
      browser.close();
      bridge.close();
    }
  }

  @AfterEach
  void browserReportsNoError() {
    List<String> errors = List.copyOf(browser.errors());
    browser.errors().clear();
    assertEquals(List.of(), errors);
  }

  private static Answer boss(String path) throws Exception {
    return bridge.get(path, "x-api-key", BOSS);
  }

  /** Opens a screen with a key; the empty address opens the first one. */
  private static void open(String key, String screen) throws Exception {
    browser.size(1280, 900).colours("light");
    browser.open(bridge.uri("/console"));
    browser.until("location.pathname === '/console' && document.readyState === 'complete'");
    browser.evaluate("sessionStorage.setItem('mcp-bridge.token', '" + key + "')");
    browser.open(URI.create("about:blank"));
    browser.until("location.pathname === 'blank'");
    browser.errors().clear();
    show(screen);
  }

  private static void show(String screen) throws Exception {
    browser.visit(bridge.uri("/console#/" + screen));
    browser.until("!!document.querySelector('main h1')");
  }

  private static boolean shows(String text) throws Exception {
    return browser.evaluate("document.body?.innerText.includes(" + quoted(text) + ")").asBoolean();
  }

  private static void awaitText(String text) throws Exception {
    browser.until("document.body?.innerText.includes(" + quoted(text) + ")");
  }

  private static String quoted(String text) {
    return com.fasterxml.jackson.databind.node.TextNode.valueOf(text).toString();
  }

  private static void click(String selector) throws Exception {
    String element = "document.querySelector(" + quoted(selector) + ")";
    browser.until("!!" + element + " && !" + element + ".disabled");
    browser.evaluate(element + ".click()");
  }

  private static void clickButton(String label) throws Exception {
    String element =
        "[...document.querySelectorAll('button')].find(b => (b.ariaLabel ?? b.innerText) === "
            + quoted(label)
            + ")";
    browser.until("!!" + element + " && !" + element + ".disabled");
    browser.evaluate(element + ".click()");
  }

  private static void enter(String selector, String text) throws Exception {
    browser.until("!!document.querySelector(" + quoted(selector) + ")");
    browser.evaluate(
        "{const i = document.querySelector(%s); i.value = %s; i.dispatchEvent(new Event('input'))}"
            .formatted(quoted(selector), quoted(text)));
  }

  private static String held(String tool, String arguments) throws Exception {
    return bridge
        .post("/servers/t/tools/" + tool, arguments, "x-api-key", ALICE)
        .at("/confirmation_id");
  }

  /** Puts the focus on an element with the key Tab alone. */
  private static void tabTo(String selector) throws Exception {
    for (int i = 0; i < 60; i++) {
      browser.press("Tab");
      if (browser
          .evaluate("document.activeElement?.matches(" + quoted(selector) + ") ?? false")
          .asBoolean()) {
        return;
      }
    }
    throw new AssertionError("not reached by keyboard: " + selector);
  }

  @Test
  void everyScreenIsAccessibleAtBothWidthsAndInBothColours() throws Exception {
    String id = held("erase", "{\"path\":\"/tmp\"}");
    open(BOSS, "servers");
    List<String> screens =
        List.of(
            "servers",
            "servers/t",
            "servers/gone",
            "try",
            "try/t/greet",
            "approvals",
            "approvals/" + id,
            "live",
            "pins",
            "pins/t",
            "audit",
            "cluster",
            "connect");
    List<String> violations = new ArrayList<>();

    for (String screen : screens) {
      show(screen);
      browser.until(
          "'"
              + screen
              + "' && document.querySelectorAll('main *').length > 1"
              + " && !document.body.innerText.includes('Loading')");
      for (String found : Accessibility.everywhere(browser)) {
        violations.add(screen + " " + found);
      }
    }

    assertEquals(List.of(), violations);
  }

  @Test
  void personLogsInWithAKeyAndOutAgain() throws Exception {
    browser.open(bridge.uri("/console"));
    browser.until("location.pathname === '/console'");
    browser.evaluate("sessionStorage.clear()");
    browser.open(URI.create("about:blank"));
    browser.until("location.pathname === 'blank'");
    browser.open(bridge.uri("/console"));
    browser.until("document.querySelector('dialog[open] input')?.matches(':focus')");
    assertFalse(shows("gone"), "nothing is shown without a key");

    browser.type("wrong");
    browser.press("Enter");
    browser.until("!!document.querySelector('dialog[open] .failure')");
    browser.until("document.querySelector('dialog[open] input')?.matches(':focus')");
    browser.type(READER);
    browser.press("Enter");

    browser.until("!!document.querySelector('[data-testid=server-t]')");
    String session = browser.evaluate("sessionStorage.getItem('mcp-bridge.token')").asText();
    assertTrue(session.startsWith("mcbs_"), "the key is not kept in the browser");
    assertEquals(200, bridge.get("/servers", "authorization", "Bearer " + session).status());
    assertTrue(shows("reader"));
    assertFalse(shows("Approvals") || shows("Audit") || shows("Pins") || shows("Add a server"));
    assertFalse(browser.evaluate("location.href").asText().contains(READER));
    assertEquals("", browser.evaluate("document.cookie").asText());
    clickButton("Log out");
    browser.until("!!document.querySelector('dialog[open] input')");
    assertEquals("null", browser.evaluate("sessionStorage.getItem('mcp-bridge.token')").toString());
    assertEquals(401, bridge.get("/servers", "authorization", "Bearer " + session).status());
    browser.errors().removeIf(error -> error.contains("401"));
  }

  @Test
  void toolIsCalledByKeyboardAlone() throws Exception {
    open(ALICE, "try/t/greet");
    browser.until("!!document.querySelector('form')");

    tabTo("form input[autocomplete=off]:not([inputmode])");
    browser.type("Zoë");
    tabTo("input[inputmode=decimal]");
    browser.type("9007199254740993");
    browser.press("Enter");

    awaitText("Completed after");
    assertTrue(shows("\"count\": 9007199254740993"), "the number is shown as it was sent");
    assertTrue(shows("Zoë"));
    JsonNode link = browser.evaluate("document.querySelector('[aria-current=page]').innerText");
    assertEquals("Try", link.asText());
  }

  @Test
  void formNamesWhatIsMissingAndTheBridgeWhatIsWrong() throws Exception {
    open(ALICE, "try/t/greet");
    click("[data-testid=run]");
    awaitText("/name is required");
    browser.until("document.activeElement?.ariaInvalid === 'true'");

    clickButton("JSON");
    enter("#arguments", "{\"name\":7}");
    click("[data-testid=run]");

    awaitText("invalid_arguments");
    awaitText("executed: no");
    clickButton("Form");
    awaitText("The form cannot show this");
  }

  @Test
  void linkFillsTheFormAndRunsNothing() throws Exception {
    open(ALICE, "try/t/greet?arguments=%7B%22name%22%3A%22link%22%7D");

    browser.until("document.querySelector('#arguments')?.value.includes('link') ?? false");
    assertFalse(shows("Outcome"));
    clickButton("Form");
    browser.until("[...document.querySelectorAll('form input')].some(i => i.value === 'link')");
  }

  @Test
  void callIsApprovedExactlyAsItIsShown() throws Exception {
    String id = held("erase", "{\"b\":1.10,\"a\":9007199254740993,\"t\":\"x\\u0041\u202Etxt\"}");
    open(BOSS, "approvals/" + id);
    String card = "[data-testid=approval-" + id + "]";
    browser.until("!!document.querySelector('" + card + " [data-testid=approve]')");

    String shown = browser.evaluate("document.querySelector('" + card + "').innerText").asText();
    assertTrue(shown.contains("\"b\": 1.10,\n  \"a\": 9007199254740993,"), shown);
    assertTrue(shown.contains("x\\u0041\\u{202E}txt"), shown);
    assertTrue(shown.contains("alice"), shown);
    browser.until("document.querySelector('" + card + "').innerText.includes('a rule of the')");
    click(card + " [data-testid=approve]");

    awaitText("The call was run.");
    assertEquals("yes", boss("/confirmations/" + id).at("/executed"));
    assertEquals("boss", boss("/confirmations/" + id).at("/decided_by"));
  }

  /** The picture in the README. */
  @Test
  void pictureOfAnApprovalIsTaken() throws Exception {
    Files.writeString(
        folder.resolve("tools.json"),
        TOOLS.replace("Erases what is named.", "Erases what is named, and all beside it."));
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
    String id = held("erase", "{\"path\":\"/srv/reports/2026\",\"keep\":1.10}");
    open(BOSS, "approvals/" + id);
    browser.until("!!document.querySelector('[data-testid=approve]:not([disabled])')");
    browser.until("!!document.querySelector('.diff .added')");

    byte[] picture = browser.size(1000, 1180).picture();

    assertTrue(picture.length > 10_000, "bytes: " + picture.length);
    Files.write(Path.of("target/approval.png"), picture);
    if (Boolean.getBoolean("pages.write")) {
      Files.write(Path.of("src/docs/approval.png"), picture);
    }
    Files.writeString(folder.resolve("tools.json"), TOOLS);
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
  }

  @Test
  void longArgumentsAreOpenedBeforeTheyAreApproved() throws Exception {
    String id = held("erase", "{\"text\":\"" + "x".repeat(30_000) + "END\"}");
    open(BOSS, "approvals/" + id);
    String approve = "document.querySelector('[data-testid=approve]')";
    browser.until("document.querySelector('[data-testid=refuse]')?.disabled === false");
    assertTrue(browser.evaluate(approve + ".disabled").asBoolean());
    assertFalse(shows("xEND"));

    browser.evaluate("document.querySelector('.code summary').click()");

    awaitText("xEND");
    browser.until("!" + approve + ".disabled");
  }

  @Test
  void definitionThatChangesIsNotReplacedUnderAClick() throws Exception {
    Files.writeString(folder.resolve("tools.json"), TOOLS.replace("Swaps.", "First text."));
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
    open(BOSS, "pins/t");
    awaitText("First text.");

    Files.writeString(folder.resolve("tools.json"), TOOLS.replace("Swaps.", "Second text."));
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);

    awaitText("The definitions have changed");
    assertTrue(shows("First text.") && !shows("Second text."));
    clickButton("Approve tool swap");
    awaitText("is not the one with this digest");
    awaitText("Second text.");
    browser.errors().removeIf(error -> error.contains("409"));
    Files.writeString(folder.resolve("tools.json"), TOOLS);
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
  }

  @Test
  void refusalTellsTheCallerWhy() throws Exception {
    String id = held("erase", "{\"why\":1}");
    open(BOSS, "approvals/" + id);
    enter(".approval label input", "Not on a Friday");
    click("[data-testid=refuse]");
    awaitText("The call was refused.");

    show("approvals");

    browser.until(
        "document.querySelector('[data-testid=decided-%s]')?.innerText.includes('Not on a Friday')"
            .formatted(id));
    Answer caller = bridge.get("/confirmations/" + id, "x-api-key", ALICE);
    assertEquals("rejected", caller.at("/status"));
    assertEquals("Not on a Friday", caller.at("/reason"));
  }

  @Test
  void approvalOfWhatHasChangedIsRefusedInWords() throws Exception {
    String id = held("swap", "{}");
    open(BOSS, "approvals/" + id);
    browser.until("!!document.querySelector('[data-testid=approve]:not([disabled])')");
    Files.writeString(
        folder.resolve("tools.json"), TOOLS.replace("Swaps.", "Swaps, and sends a copy."));
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);

    click("[data-testid=approve]");

    awaitText("The call was not run");
    Answer after = boss("/confirmations/" + id);
    assertEquals("no", after.at("/executed"));
    browser.errors().removeIf(error -> error.contains("409"));
    Files.writeString(folder.resolve("tools.json"), TOOLS);
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
  }

  @Test
  void newApprovalsAreCountedAndMoveNothing() throws Exception {
    String first = held("erase", "{\"n\":1}");
    open(BOSS, "approvals");
    browser.until("!!document.querySelector('[data-testid=approval-" + first + "]')");
    int before = browser.evaluate("document.querySelectorAll('.approval').length").asInt();

    String second = held("erase", "{\"n\":2}");
    browser.until("/Show \\d+ new call/.test(document.body.innerText)");
    assertEquals(before, browser.evaluate("document.querySelectorAll('.approval').length").asInt());
    assertTrue(browser.evaluate("document.title").asText().startsWith("("), "counted in the title");
    browser.evaluate(
        "[...document.querySelectorAll('button')].find(b => b.innerText.startsWith('Show')).click()");

    browser.until("!!document.querySelector('[data-testid=approval-" + second + "]')");
  }

  @Test
  void heldCallIsConfirmedWhereItWasTried() throws Exception {
    open(ALICE, "try/t/erase");
    clickButton("JSON");
    enter("#arguments", "{\"path\":\"/x\"}");
    click("[data-testid=run]");

    click(".approval [data-testid=approve]");

    awaitText("The call was run.");
    assertTrue(shows("\"tool\": \"erase\""));
  }

  @Test
  void killedServerIsShownWithoutAReload() throws Exception {
    open(BOSS, "servers");
    browser.until("!!document.querySelector('[data-testid=server-s]')");
    String restarts =
        "document.querySelector('[data-testid=server-s] [data-label=Restarts]').innerText";
    int before = Integer.parseInt(browser.evaluate(restarts).asText().strip());

    boss("/servers/s").body().path("pids").forEach(pid -> kill(pid.asLong()));

    browser.until("Number(" + restarts + ") > " + before);
    browser.until("document.querySelector('[data-testid=server-s]').innerText.includes('ready')");
    show("servers/s");
    browser.until(
        "document.querySelector('[data-testid=log]')?.innerText.includes('state failed')");
  }

  private static void kill(long pid) {
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
  }

  @Test
  void runningCallIsSeenAndCancelledByItsCaller() throws Exception {
    CompletableFuture<Answer> call =
        bridge.postLater("/servers/s/tools/never", "{}", "x-api-key", ALICE);
    open(ALICE, "live");
    awaitText("1 call running");

    clickButton("Cancel never");

    assertEquals("cancelled", call.get().code());
    awaitText("0 calls running");
    assertTrue(shows("cancelled"));
  }

  @Test
  void auditRecordProvesItself() throws Exception {
    bridge.post("/servers/t/tools/greet", "{\"name\":\"audited\"}", "x-api-key", ALICE);
    open(BOSS, "audit?event=call.outcome&name=greet");
    browser.until("!!document.querySelector('main li details')");

    browser.evaluate("document.querySelector('main li summary').click()");

    awaitText("The hash of this record is right.");
  }

  @Test
  void changedDefinitionIsApprovedFromItsDifference() throws Exception {
    Files.writeString(
        folder.resolve("tools.json"), TOOLS.replace("Greets a person.", "Greets, and tells."));
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
    open(BOSS, "pins/t");
    awaitText("Greets, and tells.");
    assertTrue(shows("Greets a person."));

    clickButton("Approve tool greet");

    browser.until("!document.body.innerText.includes('Greets, and tells.')");
    assertTrue(boss("/servers/t/pins?state=changed").body().path("definitions").isEmpty());
    Files.writeString(folder.resolve("tools.json"), TOOLS);
    bridge.post("/servers/t/restart", "{}", "x-api-key", BOSS);
    boss("/servers/t/pins?state=changed").body().path("definitions").forEach(ConsoleIT::approve);
  }

  private static void approve(JsonNode definition) {
    String decision =
        "{\"decisions\":[{\"kind\":\"tool\",\"name\":\"%s\",\"digest\":\"%s\",\"decision\":\"approve\"}]}"
            .formatted(definition.path("name").asText(), definition.path("digest").asText());
    try {
      bridge.post("/servers/t/pins", decision, "x-api-key", BOSS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void serverIsAddedRestartedAndStopped() throws Exception {
    open(BOSS, "servers");
    clickButton("Add a server");
    enter("[name=id]", "added");
    enter("[name=command]", TestBridge.java());
    enter("[name=args]", String.join("\n", TestBridge.javaArgs()));
    click("form .primary");
    browser.until(
        "document.querySelector('[data-testid=server-added]')?.innerText.includes('ready')");

    clickButton("Stop added");
    browser.until("!!document.querySelector('dialog[open]')");
    click("dialog[open] .danger");

    browser.until("!document.querySelector('[data-testid=server-added]')");
  }

  @Test
  void serverOfLevel3IsAddedWithItsImage() throws Exception {
    open(BOSS, "servers");
    browser.evaluate(
        "{const f = fetch; window.fetch = (a, o) => { if (o?.body) window.sent = o.body;"
            + " return f(a, o); };}");
    clickButton("Add a server");
    enter("[name=id]", "contained");
    enter("[name=command]", "cat");
    enter("[name=riskLevel]", "3");
    click("form .primary");
    awaitText("docker.image");

    enter("[name=image]", "no-such-image:1");
    click("form .primary");

    browser.until("window.sent?.includes('no-such-image:1')");
    assertEquals(
        "{\"image\":\"no-such-image:1\"}",
        browser.evaluate("JSON.stringify(JSON.parse(window.sent).docker)").asText());
    browser.until("!document.querySelector('form .primary').disabled");
    browser.errors().clear();
  }

  @Test
  void pageGoesOnWhenTheBridgeIsBack() throws Exception {
    String badge = "document.querySelector('.who .badge')?.innerText";
    int port;
    try (TestBridge first = TestBridge.of("{'mcpServers':{'one':" + TestBridge.entry("") + "}}")) {
      port = first.port();
      browser.open(first.uri("/console"));
      browser.until("!!document.querySelector('[data-testid=server-one]')");
      browser.until(badge + " === 'live'");
    }
    browser.until(badge + " === 'not live'");

    try (TestBridge second = TestBridge.at(port, "{'mcpServers':{}}")) {
      browser.until(badge + " === 'live'");
      browser.until("!document.querySelector('[data-testid=server-one]')");
      browser.open(URI.create("about:blank"));
      browser.until("location.pathname === 'blank'");
      browser.errors().removeIf(error -> error.contains("net::ERR"));
      assertEquals(200, second.get("/health").status());
    }
  }
}
