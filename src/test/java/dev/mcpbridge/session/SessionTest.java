package dev.mcpbridge.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.InMemoryTransport;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests and responses over one connection. */
@ExtendWith(VertxExtension.class)
class SessionTest {
  private static final JsonSlice PARAMS = JsonSlice.of("{}");

  private final List<String> events = new CopyOnWriteArrayList<>();
  private Context context;
  private Session session;
  private InMemoryTransport server;
  private boolean isFull;

  @BeforeEach
  void open(Vertx vertx) {
    context = vertx.getOrCreateContext();
    session = new Session(context, "s", new RecordingListener());
    server =
        new InMemoryTransport(context) {
          @Override
          protected boolean hasRoom(String method) {
            return !isFull;
          }
        };
    server.connect(session);
    session.bind(server);
  }

  private final class RecordingListener implements SessionListener {
    @Override
    public void notificationReceived(RpcMessage notification) {
      events.add("notification " + notification.method());
    }

    @Override
    public Future<JsonSlice> requestReceived(String method, JsonSlice params) {
      return method.equals("roots/list")
          ? Future.succeededFuture(JsonSlice.of("{\"roots\":[]}"))
          : Future.failedFuture("no client offers " + method);
    }

    @Override
    public void lost(int garbageLines, int droppedMessages) {
      events.add("lost " + garbageLines + " " + droppedMessages);
    }

    @Override
    public void closed(String reason) {
      events.add("closed " + reason);
    }
  }

  private <T> T onContext(Callable<T> action) throws Exception {
    return EventLoops.run(context, action);
  }

  private Exchange send(long timeoutMillis) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    return onContext(() -> session.send(Exchange.Request.plain("tools/call", PARAMS, deadline)));
  }

  private Exchange send() throws Exception {
    return send(60_000);
  }

  private static String result(Exchange exchange) throws Exception {
    return exchange.response().await(20, TimeUnit.SECONDS).payload().text();
  }

  private static BridgeException failure(Exchange exchange) {
    return assertThrows(
        BridgeException.class, () -> exchange.response().await(20, TimeUnit.SECONDS));
  }

  /** Waits until everything that was delivered has been handled. */
  private List<String> events() throws Exception {
    return onContext(() -> events);
  }

  @Test
  void responsesAreMatchedByIdInAnyOrder() throws Exception {
    Exchange first = send();
    Exchange second = send();

    server.respond(2, "'result':{'n':2}");
    server.respond(1, "'result':{'n':1}");

    assertEquals("{\"n\":1}", result(first));
    assertEquals("{\"n\":2}", result(second));
  }

  @Test
  void responseIsDeliveredOnceAndAnUnknownOneIsCounted() throws Exception {
    Exchange exchange = send();

    server.respond(1, "'result':{'n':1}");
    server.respond(1, "'result':{'n':2}");
    server.respond(7, "'result':{}");

    assertEquals("{\"n\":1}", result(exchange));
    assertEquals(List.of("lost 0 1", "lost 0 1"), events());
  }

  @Test
  void requestPastItsDeadlineFailsAndIsCancelledAtTheServer() throws Exception {
    BridgeException failure = failure(send(50));

    assertEquals(ErrorCode.DEADLINE_EXCEEDED, failure.code());
    assertEquals(Executed.UNKNOWN, failure.executed());
    assertEquals(List.of("tools/call", "notifications/cancelled"), server.methods());
  }

  @Test
  void deadlineIsSuspendedWhileTheClientIsAsked() throws Exception {
    Exchange exchange = send(50);
    onContext(
        () -> {
          exchange.pause();
          return null;
        });
    Exchange shorter = send(100);

    assertEquals(ErrorCode.DEADLINE_EXCEEDED, failure(shorter).code());
    server.respond(1, "'result':{}");

    assertEquals("{}", result(exchange));
  }

  @Test
  void cancelledRequestTellsTheServerOnceAndDropsTheLateResponse() throws Exception {
    Exchange exchange = send();
    BridgeException reason = new BridgeException(ErrorCode.CANCELLED, "the client disconnected");

    onContext(
        () -> {
          session.cancel(exchange, reason);
          session.cancel(exchange, reason);
          return null;
        });
    server.respond(1, "'result':{}");

    assertEquals(ErrorCode.CANCELLED, failure(exchange).code());
    assertEquals(List.of("tools/call", "notifications/cancelled"), server.methods());
    assertTrue(server.lines().get(1).contains("\"requestId\":1"), server.lines().get(1));
    assertEquals(List.of(), events());
  }

  @Test
  void closedConnectionFailsWhatIsPendingAndRefusesWhatFollows() throws Exception {
    Exchange pending = send();

    server.breakDown("it broke");
    BridgeException lost = failure(pending);
    BridgeException refused = failure(send());

    assertEquals(ErrorCode.UPSTREAM_CRASHED, lost.code());
    assertEquals(Executed.UNKNOWN, lost.executed());
    assertEquals(ErrorCode.UPSTREAM_CRASHED, refused.code());
    assertEquals(Executed.NO, refused.executed());
    assertEquals(List.of("closed it broke"), events());
  }

  @Test
  void fullQueueRefusesTheRequestAsNotExecuted() throws Exception {
    isFull = true;

    BridgeException failure = failure(send());

    assertEquals(ErrorCode.QUEUE_FULL, failure.code());
    assertEquals(Executed.NO, failure.executed());
  }

  @ParameterizedTest
  @CsvSource({
    "-32601, NOT_FOUND, NO",
    "-32002, NOT_FOUND, NO",
    "-32602, INVALID_ARGUMENTS, NO",
    "-32603, UPSTREAM_ERROR, UNKNOWN",
    "1, UPSTREAM_ERROR, UNKNOWN"
  })
  void codeOfAnErrorSaysWhetherTheRequestWasExecuted(int number, ErrorCode code, Executed executed)
      throws Exception {
    Exchange exchange = send();

    server.respond(1, "'error':{'code':" + number + ",'message':'m'}");

    BridgeException failure = failure(exchange);
    assertEquals(code, failure.code());
    assertEquals(executed, failure.executed());
    assertEquals("m", failure.getMessage());
  }

  @Test
  void progressReachesItsRequestAndOtherNotificationsTheListener() throws Exception {
    List<String> progress = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    onContext(
        () ->
            session.send(
                new Exchange.Request(
                    "tools/call",
                    PARAMS,
                    deadline,
                    Envelope.NONE,
                    params -> progress.add(params.text()))));

    server.deliver(notification("progress", "{'progressToken':1,'progress':5}"));
    server.deliver(notification("progress", "{'progressToken':9,'progress':6}"));
    server.deliver(notification("tools/list_changed", "{}"));

    assertEquals(List.of("notification notifications/tools/list_changed"), events());
    assertEquals(List.of(TestBridge.json("{'progressToken':1,'progress':5}")), progress);
  }

  private static String notification(String name, String params) {
    return "{'jsonrpc':'2.0','method':'notifications/%s','params':%s}".formatted(name, params);
  }

  @Test
  void requestsOfTheServerAreAnsweredOrRefused() throws Exception {
    server.deliver("{'jsonrpc':'2.0','id':'p','method':'ping'}");
    server.deliver("{'jsonrpc':'2.0','id':5,'method':'roots/list'}");
    server.deliver("{'jsonrpc':'2.0','id':6,'method':'sampling/createMessage','params':{}}");
    events();

    assertEquals(
        List.of(
            TestBridge.json("{'jsonrpc':'2.0','id':'p','result':{}}"),
            TestBridge.json("{'jsonrpc':'2.0','id':5,'result':{'roots':[]}}"),
            TestBridge.json(
                "{'jsonrpc':'2.0','id':6,'error':{'code':-32601,"
                    + "'message':'no client offers sampling/createMessage'}}")),
        server.lines());
  }
}
