package dev.mcpbridge.it.library;

import static dev.mcpbridge.fixture.HostProgram.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.api.BridgeOptions;
import dev.mcpbridge.api.Caller;
import dev.mcpbridge.api.Event;
import dev.mcpbridge.api.McpBridge;
import dev.mcpbridge.api.Outcome;
import dev.mcpbridge.api.Outcome.Completed;
import dev.mcpbridge.api.Outcome.ConfirmationRequired;
import dev.mcpbridge.api.Outcome.Executed;
import dev.mcpbridge.api.Outcome.Failed;
import dev.mcpbridge.api.Server;
import dev.mcpbridge.api.Tool;
import dev.mcpbridge.api.ToolCall;
import dev.mcpbridge.api.Tools;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.Threads;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonObject;
import java.lang.Thread.UncaughtExceptionHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A program calls the tools of a bridge that runs on its own Vert.x, with real servers. */
@Tag("program")
@Tag("threads")
class LibraryIT {
  private static final String ONE = "{'mcpServers':{'s':" + TestBridge.entry("") + "}}";
  private static final String HELD =
      "{'mcpServers':{'s':" + TestBridge.entry("'risk':{'tools':{'echo':2}}") + "}}";

  @Test
  void toolsAreListedAndCalledByEitherName() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Tools tools = program.bridge().tools();

      Tool echo =
          get(tools.list()).stream()
              .filter(tool -> tool.ownName().equals("echo"))
              .findFirst()
              .get();
      Outcome byName = get(tools.call(echo.name(), "{\"text\":\"grüße\"}"));
      Outcome byServer = get(tools.call("s", "echo", "{\"text\":\"grüße\"}"));

      assertEquals("s__echo", echo.name());
      assertEquals("object", new JsonObject(echo.inputSchema()).getString("type"));
      Completed completed = assertInstanceOf(Completed.class, byName);
      assertTrue(completed.text().contains("grüße"), completed.text());
      assertFalse(completed.isError());
      assertTrue(new JsonObject(completed.result()).containsKey("content"));
      assertEquals(byName, byServer);
    }
  }

  @Test
  void whatFailsIsAnOutcomeThatSaysWhetherItWasExecuted() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Tools tools = program.bridge().tools();

      assertFailed("tool_not_found", Executed.NO, tools.call("s__other", "{}"));
      assertFailed("server_not_found", Executed.NO, tools.call("other", "echo", "{}"));
      assertFailed("malformed_request", Executed.NO, tools.call("s__echo", "[1]"));
      assertFailed("malformed_request", Executed.NO, tools.call("s__echo", "{\"a\":"));
      assertFailed("upstream_crashed", Executed.UNKNOWN, tools.call("s__exit", "{\"code\":1}"));
      assertTrue(((Completed) get(tools.call("s__tool_error", "{}"))).isError());
    }
  }

  private static void assertFailed(String code, Executed executed, Future<Outcome> outcome) {
    Failed failed = assertInstanceOf(Failed.class, get(outcome));
    assertEquals(code, failed.code(), failed.message());
    assertEquals(executed, failed.executed(), failed.message());
    assertTrue(failed.text().startsWith(code + ": "), failed.text());
  }

  @Test
  void heldCallRunsOnceAfterTheDecisionOfItsCaller() {
    try (HostProgram program = HostProgram.with(HELD)) {
      Tools anna = program.bridge().tools(Caller.named("anna"));
      Tools bert = program.bridge().tools(Caller.named("bert"));
      ConfirmationRequired held =
          assertInstanceOf(ConfirmationRequired.class, get(anna.call("s__echo", "{\"a\": 1}")));

      Outcome ofAnother = get(bert.decide(held, true));
      Outcome approved = get(anna.decide(held, true));
      Outcome again = get(anna.decide(held, true));

      assertEquals("{\"a\":1}", held.arguments());
      assertEquals(2, held.riskLevel());
      assertFalse(held.toString().contains(held.token()), held.toString());
      assertInstanceOf(Failed.class, ofAnother);
      assertInstanceOf(Completed.class, approved);
      assertInstanceOf(Failed.class, again);
    }
  }

  @Test
  void rejectedCallDoesNotRun() {
    try (HostProgram program = HostProgram.with(HELD)) {
      Tools tools = program.bridge().tools();
      ConfirmationRequired held = (ConfirmationRequired) get(tools.call("s__echo", "{}"));

      assertInstanceOf(Outcome.Rejected.class, get(tools.decide(held, false)));
      assertInstanceOf(Failed.class, get(tools.decide(held, true)));
    }
  }

  @Test
  void approverDecidesForOthersIfOperatorsDecide() {
    String keys = TestBridge.auth(TestBridge.key("k", ApiKeys.generate(), "'approve'"));
    String operators = "{'risk':{'approver':'operator'}," + keys + "," + HELD.substring(1);
    try (HostProgram program = HostProgram.with(operators)) {
      Tools anna = program.bridge().tools(Caller.named("anna"));
      Tools boss = program.bridge().tools(Caller.named("boss").asApprover());
      ConfirmationRequired held = (ConfirmationRequired) get(anna.call("s__echo", "{}"));

      assertNull(held.token());
      assertInstanceOf(Failed.class, get(anna.decide(held.id(), true)));
      assertInstanceOf(Completed.class, get(boss.decide(held.id(), true)));
    }
  }

  @Test
  void rulesKnowTheCallersByNameAndRole() {
    String rules =
        "'access':{'rules':[{'name':'ops','allow':['call'],"
            + "'who':{'roles':['ops'],'principals':['program|an*']},'servers':['s']}]}";
    try (HostProgram program = HostProgram.with("{" + rules + "," + ONE.substring(1))) {
      McpBridge bridge = program.bridge();
      Caller anna = Caller.named("anna").withRoles("ops");

      assertInstanceOf(Completed.class, get(bridge.tools(anna).call("s__echo", "{}")));
      assertEquals(List.of(), get(bridge.tools(Caller.named("bert").withRoles("ops")).list()));
      assertInstanceOf(
          Failed.class, get(bridge.tools(Caller.named("bert")).call("s", "echo", "{}")));
    }
  }

  @Test
  void cancelledCallEnds() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      get(program.bridge().tools().call("s__echo", "{}"));
      ToolCall call = program.bridge().tools().begin("s__never", "{}");

      call.cancel();

      assertEquals("cancelled", ((Failed) get(call.outcome())).code());
    }
  }

  @Test
  void interruptCancelsACallThatIsWaitedFor() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      Tools tools = program.bridge().tools();
      get(tools.call("s__echo", "{}"));
      CompletableFuture<Outcome> outcome = new CompletableFuture<>();
      Thread waiting =
          new Thread(() -> outcome.complete(tools.callAndWait("s__never", "{}")), "agent");
      waiting.start();
      Threads.awaitFuture(waiting, "callAndWait");
      get(tools.call("s__echo", "{}"));

      waiting.interrupt();

      Failed failed = (Failed) outcome.get(20, TimeUnit.SECONDS);
      assertEquals("cancelled", failed.code());
      assertEquals(Executed.UNKNOWN, failed.executed());
      until(() -> ((Completed) get(tools.call("s__cancels", "{}"))).text().equals("1"));
    }
  }

  @Test
  void eventLoopIsNotBlockedByAWaitingCall() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Promise<Throwable> refused = Promise.promise();

      program
          .vertx()
          .runOnContext(
              v ->
                  refused.complete(
                      assertThrows(
                          IllegalStateException.class,
                          () -> program.bridge().tools().callAndWait("s__echo", "{}"))));

      assertTrue(get(refused.future()).getMessage().contains("must not be blocked"));
    }
  }

  /** A worker verticle blocks its own context, on which a future of Vert.x would complete. */
  @Test
  void workerVerticleMayWait() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Promise<Outcome> outcome = Promise.promise();

      get(
          program
              .vertx()
              .deployVerticle(
                  new VerticleBase() {
                    @Override
                    public Future<?> start() {
                      outcome.complete(program.bridge().tools().callAndWait("s__echo", "{}"));
                      return Future.succeededFuture();
                    }
                  },
                  new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER)));

      assertInstanceOf(Completed.class, get(outcome.future()));
    }
  }

  @Test
  void futuresCompleteOnTheContextThatCalled() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Promise<Boolean> isSame = Promise.promise();

      for (int i = 0; i < 8; i++) {
        program.vertx().deployVerticle(new CallingVerticle(program.bridge().tools(), isSame));
      }

      assertTrue(get(isSame.future()));
    }
  }

  private static final class CallingVerticle extends VerticleBase {
    private final Tools tools;
    private final Promise<Boolean> isSame;

    CallingVerticle(Tools tools, Promise<Boolean> isSame) {
      this.tools = tools;
      this.isSame = isSame;
    }

    @Override
    public Future<?> start() {
      Thread thread = Thread.currentThread();
      return tools
          .call("s__echo", "{}")
          .onSuccess(
              done -> {
                if (Thread.currentThread() == thread) {
                  isSame.tryComplete(true);
                } else {
                  isSame.tryComplete(false);
                }
              });
    }
  }

  @Test
  void eventsAreHeardUntilTheirEnd() throws Exception {
    try (HostProgram program = HostProgram.with(HELD)) {
      BlockingQueue<Event> heard = new LinkedBlockingQueue<>();
      Tools tools = program.bridge().tools();
      get(tools.list());
      Runnable end =
          program
              .bridge()
              .onEvent(
                  event -> {
                    if (event.name().equals("confirmation")) {
                      heard.add(event);
                    }
                  });

      ConfirmationRequired held = (ConfirmationRequired) get(tools.call("s__echo", "{}"));
      Event event = heard.poll(20, TimeUnit.SECONDS);
      end.run();
      end.run();
      get(tools.decide(held, false));
      get(tools.call("s__sleep", "{\"ms\":1}"));

      assertEquals(held.id(), new JsonObject(event.data()).getString("confirmation_id"));
      assertTrue(heard.isEmpty(), heard.toString());
    }
  }

  @Test
  void serversAreShownWithTheirStates() throws Exception {
    String broken = "{'mcpServers':{'b':{'command':'/nowhere/at-all'}}}";
    try (HostProgram program = HostProgram.with(broken)) {
      until(() -> get(program.bridge().servers(Caller.named("x"))).get(0).state().equals("failed"));

      Server server = get(program.bridge().servers(Caller.named("x"))).get(0);

      assertEquals("b", server.name());
      assertFalse(server.takesCalls());
      assertFalse(server.problem().isEmpty());
    }
  }

  @Test
  void configurationIsReloadedAndUnchangedServersKeepRunning() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Tools tools = program.bridge().tools();
      get(tools.call("s__echo", "{}"));
      List<Long> before = pids();
      String two =
          "{'mcpServers':{'s':" + TestBridge.entry("") + ",'t':" + TestBridge.entry("") + "}}";

      get(program.bridge().reload(HostProgram.options(two)));

      get(tools.call("s__echo", "{}"));
      assertTrue(pids().containsAll(before), pids() + " " + before);
      assertInstanceOf(Completed.class, get(tools.call("t", "echo", "{}")));
      assertEquals(
          Set.of("s", "t"),
          get(tools.list()).stream().map(Tool::server).collect(Collectors.toSet()));
    }
  }

  @Test
  void secondBridgeOnTheSameVertxIsRefusedAndTheFirstOneStays() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Throwable refusal =
          assertThrows(
              IllegalStateException.class,
              () -> get(McpBridge.start(program.vertx(), HostProgram.options(ONE))));

      assertTrue(refusal.getMessage().contains("A bridge runs on this Vert.x already"));
      assertInstanceOf(Completed.class, get(program.bridge().tools().call("s__echo", "{}")));
    }
  }

  @Test
  void closedBridgeLeavesTheVertxToItsProgramAndToAnotherBridge() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      get(program.bridge().tools().call("s__echo", "{}"));

      get(program.bridge().close());
      get(program.bridge().close(Duration.ZERO));

      assertEquals(List.of(), pids());
      until(() -> threads("mcp-").isEmpty()); // closing does not wait for threads that end
      assertEquals("still here", get(program.vertx().executeBlocking(() -> "still here")));
      assertInstanceOf(Completed.class, get(program.start(ONE).tools().call("s__echo", "{}")));
    }
  }

  @Test
  void handlersLoggersAndPropertiesOfTheProgramStayAsTheyWere() {
    Logger root = Logger.getLogger("");
    UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
    List<Handler> handlers = List.of(root.getHandlers());
    Level level = root.getLevel();
    try (HostProgram program = new HostProgram()) {
      Properties before = (Properties) System.getProperties().clone();

      program.start(ONE);
      get(program.bridge().tools().call("s__echo", "{}"));
      get(program.bridge().close());

      assertEquals(before, System.getProperties());
      assertSame(handler, Thread.getDefaultUncaughtExceptionHandler());
      assertEquals(handlers, List.of(root.getHandlers()));
      assertEquals(level, root.getLevel());
    }
  }

  /** What the program opens when it gets the bridge is not part of the bridge. */
  @Test
  void serverThatTheProgramOpensOutlivesTheBridge() throws Exception {
    try (HostProgram program = HostProgram.with(ONE)) {
      String hello = program.mountedAt("/tools").replace("/tools", "/hello");

      get(program.bridge().close());

      assertEquals("hello", program.send(hello, null).body());
      assertEquals(503, program.send(hello.replace("/hello", "/tools/health"), null).statusCode());
    }
  }

  @Test
  void listenersEndWithTheirBridge() throws Exception {
    try (HostProgram program = HostProgram.with(HELD)) {
      BlockingQueue<Event> heard = new LinkedBlockingQueue<>();
      get(program.bridge().tools().list());
      program.bridge().onEvent(heard::add);
      get(program.bridge().tools().call("s__echo", "{}"));
      get(program.bridge().close());
      heard.clear();

      get(program.start(HELD).tools().call("s__echo", "{}"));

      assertTrue(heard.isEmpty(), heard.toString());
    }
  }

  @Test
  void waitingCallsOnTheThreadsOfTheProgramDoNotStopTheBridge() {
    try (HostProgram program = HostProgram.with(ONE)) {
      Tools tools = program.bridge().tools();
      List<Future<Outcome>> waiting = new ArrayList<>();
      for (int i = 0; i < 25; i++) {
        waiting.add(
            program.vertx().executeBlocking(() -> tools.callAndWait("s__never", "{}"), false));
      }

      Outcome other = get(tools.call("s__echo", "{}"));
      get(program.bridge().close(Duration.ZERO));

      assertInstanceOf(Completed.class, other);
      waiting.forEach(each -> assertInstanceOf(Failed.class, get(each)));
    }
  }

  @Test
  void closingTheVertxEndsTheServers() throws Exception {
    HostProgram program = HostProgram.with(ONE);
    get(program.bridge().tools().call("s__echo", "{}"));

    get(program.vertx().close());

    assertEquals(List.of(), pids());
    assertEquals(List.of(), threads("mcp-"));
  }

  @Test
  void failedStartLeavesNothing() throws Exception {
    try (HostProgram program = new HostProgram()) {
      BridgeOptions taken =
          HostProgram.options("{'http':{'host':'192.0.2.1','insecure':true}," + ONE.substring(1))
              .listening();

      assertThrows(Exception.class, () -> get(McpBridge.start(program.vertx(), taken)));

      assertEquals(List.of(), pids());
      assertInstanceOf(Completed.class, get(program.start(ONE).tools().call("s__echo", "{}")));
    }
  }

  @Test
  void listenerIsOpenedIfAskedFor() throws Exception {
    try (HostProgram program = new HostProgram()) {
      McpBridge bridge =
          get(
              McpBridge.start(
                  program.vertx(),
                  HostProgram.options("{'http':{'port':0}," + ONE.substring(1)).listening()));

      int status =
          program.send(bridge.url().orElseThrow() + "/servers/s/tools/echo", "{}").statusCode();

      assertEquals(200, status);
      get(bridge.close());
    }
  }

  /** Options that do not ask for the listener are of no effect on the one that is there. */
  @Test
  void reloadKeepsTheListenerAndItsPages() throws Exception {
    try (HostProgram program = new HostProgram()) {
      String config = "{'http':{'port':0}," + ONE.substring(1);
      McpBridge bridge =
          get(McpBridge.start(program.vertx(), HostProgram.options(config).listening()));
      String url = bridge.url().orElseThrow();
      int before = program.send(url + "/oauth/callback", null).statusCode();

      get(bridge.reload(HostProgram.options(config)));

      assertEquals(url, bridge.url().orElseThrow());
      assertEquals(before, program.send(url + "/oauth/callback", null).statusCode());
      assertTrue(before < 500, "status " + before);
      get(bridge.close());
    }
  }

  @Test
  void twoBridgesOfOneProcessLiveApart() {
    try (HostProgram one = HostProgram.with(ONE);
        HostProgram other = HostProgram.with(ONE)) {
      get(one.bridge().tools().call("s__echo", "{}"));
      get(other.bridge().tools().call("s__echo", "{}"));

      get(one.bridge().close());

      assertInstanceOf(Completed.class, get(other.bridge().tools().call("s__echo", "{}")));
      assertInstanceOf(Failed.class, get(one.bridge().tools().call("s__echo", "{}")));
    }
  }

  @Test
  void greedyCallerFillsItsShareOfTheQueueOnly() {
    String narrow =
        "{'mcpServers':{'s':" + TestBridge.entry("'maxInFlight':1,'maxQueued':6") + "}}";
    try (HostProgram program = HostProgram.with(narrow)) {
      Tools greedy = program.bridge().tools(Caller.named("greedy"));
      Tools other = program.bridge().tools(Caller.named("other"));
      get(other.call("s__echo", "{}"));
      List<Future<Outcome>> many = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        many.add(greedy.call("s__sleep", "{\"ms\":100}"));
      }

      Outcome own = get(other.call("s__echo", "{}"));

      assertInstanceOf(Completed.class, own);
      List<Failed> refused =
          many.stream()
              .map(HostProgram::get)
              .filter(Failed.class::isInstance)
              .map(Failed.class::cast)
              .toList();
      assertFalse(refused.isEmpty());
      refused.forEach(each -> assertEquals("queue_full NO", each.code() + " " + each.executed()));
    }
  }

  @Test
  void dangerousToolWithoutAContainerDoesNotRun() {
    String high = "{'mcpServers':{'s':" + TestBridge.entry("'risk':{'tools':{'echo':3}}") + "}}";
    try (HostProgram program = HostProgram.with(high)) {
      assertFailed(
          "isolation_unavailable", Executed.NO, program.bridge().tools().call("s__echo", "{}"));
    }
  }

  @Test
  void invalidConfigurationsAreRefusedWithTheirKeys() {
    assertRefused("{'mcpServerz':{}}", "mcpServerz");
    assertRefused("{'cluster':{'node':'a','members':['a=127.0.0.1:1']}}", "cluster");
    assertRefused("nothing", "JSON");
  }

  private static void assertRefused(String config, String named) {
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> HostProgram.options(config));
    assertTrue(refusal.getMessage().contains(named), refusal.getMessage());
  }

  private static List<Long> pids() {
    return ProcessHandle.current()
        .children()
        .filter(ProcessHandle::isAlive)
        .filter(child -> child.info().commandLine().orElse("").contains("ScriptedServer"))
        .map(ProcessHandle::pid)
        .toList();
  }

  private static List<String> threads(String prefix) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith(prefix))
        .toList();
  }

  private static void until(java.util.function.BooleanSupplier condition)
      throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "not within 20 s");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
