package dev.mcpbridge.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.mcpbridge.bus.Addresses.Question;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.ConfigReader.Strictness;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Residence;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.transport.Opener;
import dev.mcpbridge.transport.StdioTransport;
import dev.mcpbridge.transport.Transport;
import dev.mcpbridge.transport.TransportListener;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Servers whose transports fail at once, never open, break, or take their time to end. */
class UpstreamTest {
  private static final ServerId ID = new ServerId("s");
  private static final long LONG_MILLIS = 60_000;
  private static final BridgeException NO_ENGINE =
      new BridgeException(ErrorCode.ISOLATION_UNAVAILABLE, "No engine answers");

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();

  private enum Deaf implements Upstream.News {
    EARS;

    @Override
    public void changed(ServerView view) {}

    @Override
    public void callEvent(Call call, String name, JsonSlice params) {}

    @Override
    public void resourceUpdated(String conversation, String uri, JsonSlice params) {}

    @Override
    public Future<JsonSlice> question(Call call, Question question) {
      return Future.failedFuture("Nobody asks here");
    }
  }

  @AfterEach
  void close() throws Exception {
    await(vertx::close);
  }

  /** A process that answers what it is asked at its start, and calls when the test wants it. */
  private final class Puppet implements Transport {
    private final TransportListener listener;
    private final List<JsonSlice> calls = new ArrayList<>();
    private final Promise<Void> called = Promise.promise();
    private final Promise<Void> gone = Promise.promise();
    private final List<JsonSlice> readings = new CopyOnWriteArrayList<>();
    private boolean isFull;
    private boolean isSlow;

    Puppet(TransportListener listener) {
      this.listener = listener;
    }

    @Override
    public long send(byte[] line) {
      Map<String, JsonSlice> message = JsonObjects.members(JsonSlice.of(line));
      String method = JsonObjects.string(message.get("method"));
      JsonSlice id = message.get("id");
      if ("tools/call".equals(method)) {
        if (isFull) {
          return -1;
        }
        calls.add(id);
        called.tryComplete();
      } else if ("initialize".equals(method)) {
        answer(
            id,
            RpcMessage.Kind.RESULT,
            "{'protocolVersion':'2025-06-18','capabilities':{'tools':{}}}");
      } else if ("tools/list".equals(method)) {
        readings.add(id);
        if (!isSlow) {
          list(id, "old");
        }
      } else if (id != null) {
        answer(id, RpcMessage.Kind.ERROR, "{'code':-32601,'message':'unknown'}");
      }
      return line.length;
    }

    private void answer(JsonSlice id, RpcMessage.Kind kind, String payload) {
      JsonSlice json = JsonSlice.of(payload.replace('\'', '"'));
      context.runOnContext(v -> listener.messages(List.of(new RpcMessage(kind, id, null, json))));
    }

    void list(JsonSlice id, String tool) {
      answer(id, RpcMessage.Kind.RESULT, "{'tools':[{'name':'" + tool + "','inputSchema':{}}]}");
    }

    void tellOfChange() {
      listener.messages(
          List.of(
              new RpcMessage(RpcMessage.Kind.NOTIFICATION, null, McpMethod.TOOLS_CHANGED, null)));
    }

    void answerCalls() {
      calls.forEach(id -> answer(id, RpcMessage.Kind.RESULT, "{'content':[]}"));
    }

    void breakDown() {
      gone.tryComplete();
      listener.closed("it broke");
    }

    @Override
    public Future<Void> close() {
      return gone.future();
    }
  }

  private final List<Puppet> puppets = new CopyOnWriteArrayList<>();

  private Future<Transport> open(TransportListener listener) {
    Puppet puppet = new Puppet(listener);
    puppets.add(puppet);
    return Future.succeededFuture(puppet);
  }

  private static Call call(String id) {
    return new Call(
            id,
            ID,
            Target.tool("t"),
            JsonSlice.EMPTY_OBJECT,
            Caller.of("a"),
            0,
            false,
            Envelope.NONE)
        .withTimeout(LONG_MILLIS);
  }

  private static ServerConfig config(String entry) {
    BridgeConfig config =
        new ConfigReader(Map.of()).read("{\"mcpServers\":{\"s\":" + entry + "}}", Strictness.WHOLE);
    return config.servers().get(ID);
  }

  private Instance.Surroundings surroundings(Opener opener, Residence residence) {
    return new Instance.Surroundings(
        context,
        opener,
        new StdioTransport.Limits(1 << 20, 100, 1 << 21),
        new BridgeIdentity("1", () -> "me"),
        residence,
        () -> true);
  }

  private Upstream upstream(Opener opener) {
    return new Upstream(
        config("{\"command\":\"any\",\"maxInFlight\":1}"),
        null,
        surroundings(opener, Residence.SOLE),
        Deaf.EARS);
  }

  /** On the context of the server, as everything that concerns it. */
  private <T> T await(Supplier<Future<T>> asked) throws Exception {
    Promise<T> promise = Promise.promise();
    context.runOnContext(v -> asked.get().onComplete(promise));
    return promise.future().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private <T> BridgeException failure(Supplier<Future<T>> asked) {
    ExecutionException failed = assertThrows(ExecutionException.class, () -> await(asked));
    return assertInstanceOf(BridgeException.class, failed.getCause());
  }

  @Test
  void aTransportThatFailsBeforeItReturnsIsAStartThatFailed() throws Exception {
    Upstream upstream =
        upstream((where, reach, name, limits, listener) -> Future.failedFuture(NO_ENGINE));

    assertEquals(
        ErrorCode.ISOLATION_UNAVAILABLE, failure(() -> upstream.ready(LONG_MILLIS)).code());
    assertInstanceOf(ServerState.Failed.class, upstream.state());
    await(() -> upstream.close(0));
  }

  @Test
  void whoWaitsForAServerThatIsStoppedIsToldSo() throws Exception {
    Promise<Transport> never = Promise.promise();
    Upstream upstream = upstream((where, reach, name, limits, listener) -> never.future());
    Promise<Future<ServerView>> asked = Promise.promise();
    context.runOnContext(v -> asked.complete(upstream.ready(LONG_MILLIS)));
    Future<ServerView> waiting = asked.future().toCompletionStage().toCompletableFuture().get();
    assertFalse(waiting.isComplete());

    context.runOnContext(v -> upstream.close(0));

    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure(() -> waiting).code());
    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure(() -> upstream.ready(LONG_MILLIS)).code());
  }

  @Test
  void whatWaitsForAServerThatBreaksIsAnsweredByItsNextProcess() throws Exception {
    Upstream upstream = upstream((where, reach, name, limits, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<JsonSlice>> answers = new ArrayList<>();
    await(
        () -> {
          List.of("runs", "waits", "waits, too")
              .forEach(id -> answers.add(upstream.call(call(id))));
          puppets.get(0).breakDown();
          return upstream.ready(LONG_MILLIS);
        });

    assertEquals(ErrorCode.UPSTREAM_CRASHED, failure(() -> answers.get(0)).code());
    await(
        () -> {
          puppets.get(1).answerCalls();
          return answers.get(1);
        });
    await(
        () -> {
          puppets.get(1).answerCalls();
          return answers.get(2);
        });
  }

  @Test
  void aServerThatIsReplacedTwiceAtOnceHasOneProcessAfterTheOther() throws Exception {
    Upstream upstream = upstream((where, reach, name, limits, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<ServerView>> restarted = new ArrayList<>();
    await(
        () -> {
          restarted.add(upstream.restart(0));
          restarted.add(upstream.restart(0));
          return Future.succeededFuture();
        });
    assertEquals(1, puppets.size());

    puppets.get(0).gone.complete();

    await(() -> Future.all(restarted));
    assertEquals(2, puppets.size());
  }

  @Test
  void aServerThatIsStoppedIsNotGoneBeforeTheProcessThatWasBeingReplaced() throws Exception {
    Upstream upstream = upstream((where, reach, name, limits, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<Void>> closed = new ArrayList<>();
    await(
        () -> {
          upstream.restart(0);
          closed.add(upstream.close(0));
          return Future.succeededFuture();
        });
    assertFalse(closed.get(0).isComplete());

    puppets.get(0).gone.complete();

    await(() -> closed.get(0));
    assertEquals(1, puppets.size());
  }

  @Test
  void aServerThatIsBeingStoppedMayRunElsewhereNextForWhoeverIsNewToIt() throws Exception {
    Upstreams upstreams =
        new Upstreams(
            config("{\"command\":\"any\",\"isolation\":\"session\"}"),
            surroundings(
                (where, reach, name, limits, listener) -> open(listener), new Residence(1, "n", 1)),
            Deaf.EARS);
    await(() -> upstreams.close(0));

    BridgeException refused = assertThrows(BridgeException.class, () -> upstreams.call(call("c")));

    assertEquals(ErrorCode.NOT_OWNER, refused.code());
  }

  @Test
  void aClientThatHasLeftCanGiveUpACallThatStillRuns() throws Exception {
    Upstreams upstreams =
        new Upstreams(
            config("{\"command\":\"any\",\"isolation\":\"session\"}"),
            surroundings((where, reach, name, limits, listener) -> open(listener), Residence.SOLE),
            Deaf.EARS);
    List<Future<JsonSlice>> answers = new ArrayList<>();
    await(
        () -> {
          answers.add(upstreams.call(call("c")));
          return puppets.get(0).called.future();
        });

    await(
        () -> {
          upstreams.over(call("c").caller().conversation(), LONG_MILLIS);
          upstreams.cancel("c", "nobody waits for it");
          return Future.succeededFuture();
        });

    assertEquals(ErrorCode.CANCELLED, failure(() -> answers.get(0)).code());
  }

  @Test
  void howeverMuchWaitsForAServerThatReadsNothingIsToldSo() throws Exception {
    Upstream upstream = upstream((where, reach, name, limits, listener) -> open(listener));
    await(() -> upstream.ready(LONG_MILLIS));
    List<Future<JsonSlice>> waiting = new ArrayList<>();
    await(
        () -> {
          Future<JsonSlice> first = upstream.call(call("first"));
          for (int i = 0; i < 1024; i++) {
            waiting.add(upstream.call(call("c" + i)));
          }
          puppets.get(0).isFull = true;
          puppets.get(0).answerCalls();
          return first;
        });

    for (Future<JsonSlice> each : waiting) {
      assertEquals(ErrorCode.QUEUE_FULL, failure(() -> each).code());
    }
  }

  @Test
  void aChangeWhileTheListsAreReadIsReadAfterwards() throws Exception {
    Upstream upstream = upstream((where, reach, name, limits, listener) -> open(listener));
    context.runOnContext(v -> upstream.open());
    await(() -> upstream.ready(LONG_MILLIS));
    Puppet server = puppets.get(0);
    server.isSlow = true;
    int before = server.readings.size();

    context.runOnContext(v -> server.tellOfChange());
    until(() -> server.readings.size() == before + 1);
    context.runOnContext(v -> server.tellOfChange());
    TimeUnit.MILLISECONDS.sleep(500); // in which another reading would begin
    assertEquals(before + 1, server.readings.size());
    server.list(server.readings.get(before), "newer");
    until(() -> server.readings.size() == before + 2);
    server.list(server.readings.get(before + 1), "newest");

    until(() -> upstream.view().catalogue().tools().containsKey("newest"));
  }

  private static void until(BooleanSupplier condition) throws Exception {
    while (!condition.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }
}
