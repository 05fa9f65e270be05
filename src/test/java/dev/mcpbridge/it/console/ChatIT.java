package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.Accessibility;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.Browser;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.ScriptedModel;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The screen Chat of the console, in a real browser. */
@Tag("program")
class ChatIT {
  private static final String TOOLS =
      "[{\"name\":\"greet\",\"inputSchema\":{\"type\":\"object\"}},"
          + "{\"name\":\"erase\",\"inputSchema\":{\"type\":\"object\"}}]";

  @TempDir static Path folder;
  private static ScriptedModel model;
  private static TestBridge bridge;
  private static Browser browser;

  @BeforeAll
  static void open() throws Exception {
    browser = new Browser(folder.resolve("profile"));
    model = ScriptedModel.start();
    String risk = "'risk':{'tools':{'erase':2}}";
    bridge =
        TestBridge.of(
            "{'agent':{'provider':'openai','baseUrl':'%s','model':'scripted'},'mcpServers':{'t':%s}}"
                .formatted(
                    model.base(),
                    CatalogueServer.entry(folder.resolve("tools.json"), TOOLS, risk)));
    bridge.awaitReady("t");
  }

  @AfterAll
  static void close() throws Exception {
    if (browser != null) {
      browser.close();
      bridge.close();
      model.close();
    }
  }

  @AfterEach
  void browserReportsNoError() {
    List<String> errors = List.copyOf(browser.errors());
    browser.errors().clear();
    assertEquals(List.of(), errors);
  }

  private static void chat(TestBridge at) throws Exception {
    browser.size(1280, 900).colours("light");
    browser.visit(at.uri("/console#/chat"));
    browser.until("!!document.querySelector('main h1')");
  }

  private static void ask(String question) throws Exception {
    browser.until("!!document.querySelector('#question')");
    browser.evaluate("document.querySelector('#question').select()");
    browser.until("document.activeElement?.id === 'question'");
    browser.type(question);
    browser.press("Enter");
  }

  private static void click(String id) throws Exception {
    String element = "document.querySelector('[data-testid=" + id + "]')";
    browser.until("!!" + element + " && !" + element + ".disabled");
    browser.evaluate(element + ".click()");
  }

  private static void awaitText(String text) throws Exception {
    try {
      browser.until("document.querySelector('main')?.innerText.includes('" + text + "')");
    } catch (AssertionError e) {
      throw new AssertionError(
          browser.evaluate("document.querySelector('main')?.innerText").asText(), e);
    }
  }

  @Test
  void questionIsAnsweredWithAToolAndTheKeyboardAlone() throws Exception {
    chat(bridge);
    model
        .thenCalls("t__greet", "{\"n\":9007199254740993}")
        .thenText("Greeted <img src=x onerror=alert(1)> \u202Eeveryone.");

    ask("Greet them");

    awaitText("Greeted <img src=x onerror=alert(1)>");
    awaitText("\\\\u{202E}");
    awaitText("t__greet");
    assertTrue(model.toolResults().get(0).contains("9007199254740993"));
    assertEquals(List.of(), Accessibility.everywhere(browser));
  }

  @Test
  void heldCallIsApprovedInTheConversation() throws Exception {
    chat(bridge);
    model.thenCalls("t__erase", "{\"path\":\"/srv/1.10\"}").thenText("Erased.");

    ask("Erase it");

    awaitText("A call waits for you.");
    assertEquals(List.of(), Accessibility.everywhere(browser));
    click("approve");
    awaitText("Erased.");
    assertTrue(model.toolResults().get(0).contains("/srv/1.10"), model.toolResults().get(0));
    assertTrue(model.toolResults().get(0).startsWith("<data "), "the result is marked");
  }

  @Test
  void refusedCallIsToldToTheModelAndDoesNotRun() throws Exception {
    chat(bridge);
    model.thenCalls("t__erase", "{}").thenText("Then not.");

    ask("Erase it");
    click("refuse");

    awaitText("Then not.");
    assertTrue(
        model.toolResults().get(0).startsWith("The user has refused this call. It has not run"),
        model.toolResults().get(0));
  }

  @Test
  void callThatItsCallerDecidesElsewhereIsSaidToHaveRun() throws Exception {
    chat(bridge);
    keepAnswers();
    model.thenCalls("t__erase", "{\"path\":\"/elsewhere\"}").thenText("It is done.");
    ask("Erase it");
    awaitText("A call waits for you.");
    String held = "JSON.parse(window.answer).tool_responses[0].confirmation.";
    String id = browser.evaluate(held + "confirmation_id").asText();
    String token = browser.evaluate(held + "token").asText();

    bridge.post("/confirmations/" + id, "{\"confirm\":true,\"token\":\"" + token + "\"}");

    awaitText("It is done.");
    assertTrue(model.toolResults().get(0).endsWith("It was executed."), model.toolResults().get(0));
  }

  /** What the bridge has answered to calls is in {@code window.answer}. */
  private static void keepAnswers() throws Exception {
    browser.evaluate(
        "{const f = fetch; window.fetch = async (...a) => { const r = await f(...a);"
            + " if (String(a[0]).startsWith('toolcall')) window.answer = await r.clone().text();"
            + " return r; };}");
  }

  @Test
  void operatorDecidesAndTheCallerGetsTheResult() throws Exception {
    String caller = ApiKeys.generate();
    String boss = ApiKeys.generate();
    String keys =
        TestBridge.auth(
            TestBridge.key("caller", caller, "'read','call'"),
            TestBridge.key("boss", boss, "'read','call','approve'"));
    String risk = "'risk':{'tools':{'erase':2}}";
    try (TestBridge operated =
        TestBridge.of(
            "{%s,'risk':{'approver':'operator'},'agent':{'provider':'openai','baseUrl':'%s'},'mcpServers':{'t':%s}}"
                .formatted(
                    keys,
                    model.base(),
                    CatalogueServer.entry(folder.resolve("operated.json"), TOOLS, risk)))) {
      operated.until(
          () -> operated.get("/servers/t", "x-api-key", boss).at("/state").equals("ready"));
      browser.open(operated.uri("/console"));
      browser.until("location.pathname === '/console' && document.readyState === 'complete'");
      browser.evaluate("sessionStorage.setItem('mcp-bridge.token', '" + caller + "')");
      chat(operated);
      browser.errors().clear();
      model.thenCalls("t__erase", "{\"path\":\"/operated\"}").thenText("The operator agreed.");
      firstQuestionAboutADecisionIsLost();
      ask("Erase it");
      awaitText("A person with the scope “approve” decides.");
      String id =
          operated.get("/confirmations", "x-api-key", boss).at("/confirmations/0/confirmation_id");

      operated.post("/confirmations/" + id, "{\"confirm\":true}", "x-api-key", boss);

      awaitText("The operator agreed.");
      assertTrue(browser.evaluate("window.lost").asBoolean(), "no question was lost");
      assertTrue(model.toolResults().get(0).contains("/operated"), model.toolResults().get(0));
      browser.open(bridge.uri("/console"));
    }
  }

  private static void firstQuestionAboutADecisionIsLost() throws Exception {
    browser.evaluate(
        """
        (() => {
          const real = window.fetch;
          window.fetch = (to, init) => {
            if (init.method === 'GET' && String(to).startsWith('confirmations/')) {
              window.fetch = real;
              window.lost = true;
              return Promise.reject(new TypeError('the network is away'));
            }
            return real(to, init);
          };
        })()""");
  }

  @Test
  void resultThatIsTooLargeDoesNotEndTheConversation() throws Exception {
    chat(bridge);
    model
        .thenCalls("t__greet", "{\"text\":\"" + "x".repeat(600_000) + "\"}")
        .thenText("That was much.");

    ask("Greet");

    awaitText("That was much.");
    assertTrue(model.toolResults().get(0).contains("too large"), model.toolResults().get(0));
  }

  @Test
  void stoppedQuestionLeavesNothingToApproveAndTheConversationGoesOn() throws Exception {
    chat(bridge);
    model.thenCalls("t__greet", "{}", "t__erase", "{}").thenText("Still here.");
    ask("Erase it");
    awaitText("A call waits for you.");

    click("stop");

    bridge.until(() -> bridge.get("/confirmations").body().path("confirmations").isEmpty());
    ask("Are you there?");
    awaitText("Still here.");
    assertEquals(2, model.toolResults().size());
    assertTrue(model.toolResults().get(0).startsWith("<data "), "its result is known");
    assertTrue(model.toolResults().get(1).contains("stopped"), model.toolResults().get(1));
  }

  @Test
  void failedTurnIsTriedAgainWithoutAnotherCall() throws Exception {
    chat(bridge);
    model.thenCalls("t__greet", "{}").thenError(400, "no such luck").thenText("After all.");

    ask("Greet");
    awaitText("no such luck");
    int before = model.requestBodies().size();
    click("again");

    awaitText("After all.");
    assertEquals(before + 1, model.requestBodies().size());
    click("start-again");
    browser.until("document.querySelectorAll('.chat li').length === 0");
  }

  @Test
  void consentIsGivenInTheConversation() throws Exception {
    EchoApi api =
        EchoApi.start()
            .on("/openapi.json", ApiDocument.create().with("get", "/mine", "mine", "").asScript())
            .on("/mine", EchoApi.requiring("Bearer entered"));
    try (api;
        TestBridge asking =
            TestBridge.of(
                "{'agent':{'provider':'openai','baseUrl':'%s'},'mcpServers':{'api':{'type':'openapi','url':'%s','authUrl':'https://login.example'}}}"
                    .formatted(model.base(), api.url("/openapi.json")))) {
      asking.awaitReady("api");
      chat(asking);
      model.thenCalls("api__mine", "{}").thenText("It is yours.");
      ask("Read mine");
      awaitText("The call needs your consent");
      assertEquals(List.of(), Accessibility.everywhere(browser));
      String entered = "{\"authorization\":\"Bearer entered\"}";
      assertEquals(204, asking.put("/servers/api/credentials", entered).status());

      browser.evaluate(
          "[...document.querySelectorAll('button')].find(b => b.innerText.startsWith('I have agreed')).click()");

      awaitText("It is yours.");
      assertTrue(model.toolResults().get(0).contains("granted"), model.toolResults().get(0));
    }
  }

  @Test
  void modelThatOnlyCallsMustAnswerInTheEnd() throws Exception {
    try (ScriptedModel tireless = ScriptedModel.start().alwaysCalls("t__greet", "{}");
        TestBridge busy =
            TestBridge.of(
                "{'agent':{'provider':'openai','baseUrl':'%s'},'mcpServers':{'t':%s}}"
                    .formatted(
                        tireless.base(),
                        CatalogueServer.entry(folder.resolve("busy.json"), TOOLS, "")))) {
      busy.awaitReady("t");
      chat(busy);

      ask("Greet for ever");

      busy.until(() -> tireless.requestBodies().size() == 26);
      browser.until("!document.querySelector('[data-testid=ask]').disabled");
      assertEquals(26, tireless.requestBodies().size());
      assertEquals("none", tireless.lastRequestBody().path("tool_choice").asText());
    }
  }

  @Test
  void bridgeThatDiesDuringATurnIsReported() throws Exception {
    try (ScriptedModel silent = ScriptedModel.start().thenNoResponse()) {
      TestBridge dying =
          TestBridge.of(
              "{'agent':{'provider':'openai','baseUrl':'%s'},'mcpServers':{}}"
                  .formatted(silent.base()));
      try (dying) {
        chat(dying);
        ask("Hello?");
        dying.until(() -> silent.requestBodies().size() == 1);
      }

      browser.until("!!document.querySelector('[data-testid=again]')");
      browser.errors().clear();
    }
  }

  @Test
  void recordedConversationNeedsNoKey() throws Exception {
    try (TestBridge replay =
        TestBridge.of(
            "{'agent':{'provider':'replay'},'mcpServers':{'git':{'builtin':'git','args':['--root','%s']}}}"
                .formatted(Path.of("").toAbsolutePath()))) {
      replay.awaitReady("git");
      chat(replay);
      awaitText("a recorded conversation");
      browser.until("document.querySelector('#question').value.includes('Which repository')");

      click("ask");

      awaitText("The tools answered with");
      browser.until("document.querySelector('#question').value.includes('Commit what')");
    }
  }

  @Test
  void withoutAModelThereIsNoChat() throws Exception {
    try (TestBridge without = TestBridge.of("{'mcpServers':{}}")) {
      chat(without);
      awaitText("No model is configured");
      assertFalse(
          browser.evaluate("document.querySelector('nav').innerText.includes('Chat')").asBoolean());
    }
  }
}
