package dev.mcpbridge.adapter.grpc;

import static dev.mcpbridge.adapter.grpc.FaultyGrpcServer.frame;
import static dev.mcpbridge.adapter.grpc.FaultyGrpcServer.ok;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that breaks the rules of gRPC over HTTP/2, or uses all of them. */
@ExtendWith(VertxExtension.class)
class GrpcFaultsTest {
  private static final int MAX = FaultyGrpcServer.MAX;

  private final List<byte[]> received = new ArrayList<>();
  private Vertx vertx;
  private FaultyGrpcServer server;
  private GrpcChannel channel;

  @BeforeEach
  void start(Vertx vertx) {
    this.vertx = vertx;
  }

  private void answer(Consumer<HttpServerRequest> answers) throws Exception {
    server = new FaultyGrpcServer(vertx, (request, body) -> answers.accept(request));
    channel = server.channel();
  }

  private GrpcStatus call() throws Exception {
    return call(0, 100);
  }

  private GrpcStatus call(long timeoutMillis, int messages) throws Exception {
    return EventLoops.await(
        vertx,
        () ->
            channel
                .call(
                    GrpcChannel.Request.of("/s.S/M", new byte[] {1}, Map.of(), timeoutMillis),
                    message -> received.add(message) && received.size() < messages)
                .status());
  }

  private BridgeException failure() throws Exception {
    return assertThrows(BridgeException.class, this::call);
  }

  @Test
  void messagesMayBeSplitAndJoinedAnywhere() throws Exception {
    Buffer body = frame(0, new byte[] {7, 8}).appendBuffer(frame(0, new byte[0]));
    answer(
        request -> {
          HttpServerResponse response = ok(request);
          for (int i = 0; i < body.length(); i++) {
            response.write(body.getBuffer(i, i + 1));
          }
          response.write(body.copy()).onComplete(v -> response.end());
        });

    assertEquals(0, call().code());
    assertEquals(4, received.size());
    assertEquals(8, received.get(2)[1]);
  }

  @Test
  void statusMayStandInTheHeaders() throws Exception {
    answer(
        request ->
            request
                .response()
                .putHeader("content-type", "application/grpc")
                .putHeader("grpc-status", "5")
                .putHeader("grpc-message", "gr%C3%BCn %zz")
                .end());

    GrpcStatus status = call();
    assertEquals(5, status.code());
    assertEquals("grün %zz", status.message());
  }

  @Test
  void responseWithoutStatusIsUnknown() throws Exception {
    answer(
        request ->
            request
                .response()
                .putHeader("content-type", "application/grpc")
                .end(frame(0, new byte[] {1})));

    assertEquals(2, call().code());
  }

  @ParameterizedTest
  @CsvSource({"400,13", "401,16", "403,7", "404,12", "429,14", "503,14", "500,2", "200,2"})
  void responseThatIsNotGrpcIsJudgedByItsStatus(int http, int code) throws Exception {
    answer(
        request ->
            request
                .response()
                .setStatusCode(http)
                .putHeader("content-type", "text/html")
                .end("<html>no"));

    GrpcStatus status = call();
    assertEquals(code, status.code());
    assertTrue(status.message().contains("text/html"), status.message());
  }

  @Test
  void bodyThatEndsWithinAMessageIsAProtocolError() throws Exception {
    answer(request -> ok(request).end(Buffer.buffer(new byte[] {0, 0, 0, 0, 9, 1, 2})));

    assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure().code());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 255})
  void compressedMessageIsAProtocolError(int flag) throws Exception {
    answer(
        request -> ok(request).putHeader("grpc-encoding", "gzip").end(frame(flag, new byte[10])));

    assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure().code());
  }

  @Test
  void lengthBeyondTheLimitIsRefusedBeforeTheMessageArrives() throws Exception {
    answer(request -> ok(request).write(Buffer.buffer().appendByte((byte) 0).appendInt(-1)));

    BridgeException failure = failure();
    assertEquals(ErrorCode.RESPONSE_TOO_LARGE, failure.code());
    assertTrue(server.awaitReset());
  }

  @Test
  void statusAfterSomeMessagesCounts() throws Exception {
    answer(
        request ->
            ok(request)
                .putTrailer("grpc-status", "13")
                .putTrailer("grpc-message", "broke")
                .end(frame(0, new byte[] {1})));

    assertEquals("broke", call().message());
    assertEquals(1, received.size());
  }

  @ParameterizedTest
  @CsvSource({"2,13", "8,1", "11,8", "12,7"})
  void resetStreamHasTheStatusOfItsCode(long http2, int code) throws Exception {
    answer(request -> request.response().reset(http2));

    assertEquals(code, call().code());
  }

  @Test
  void refusedStreamWasNotExecuted() throws Exception {
    answer(request -> request.response().reset(7));

    assertEquals(Executed.NO, failure().executed());
  }

  @Test
  void streamThatIsRefusedAfterAMessageMayHaveBeenExecuted() throws Exception {
    answer(
        request -> {
          ok(request).write(frame(0, new byte[] {1}));
          vertx.setTimer(50, t -> request.response().reset(7));
        });

    assertEquals(14, call(0, 100).code());
  }

  @Test
  void responseThatGoesOnAfterItsStatusIsReset() throws Exception {
    answer(
        request ->
            request
                .response()
                .putHeader("content-type", "application/grpc")
                .putHeader("grpc-status", "5")
                .write(Buffer.buffer("more")));

    assertEquals(5, call().code());
    assertTrue(server.awaitReset());
  }

  @Test
  void receiverThatThrowsEndsTheCall() throws Exception {
    answer(request -> ok(request).write(frame(0, new byte[] {1})));

    assertThrows(
        IllegalStateException.class,
        () ->
            EventLoops.await(
                vertx,
                () ->
                    channel
                        .call(
                            GrpcChannel.Request.of("/s.S/M", new byte[0], Map.of(), 0),
                            message -> {
                              throw new IllegalStateException("no");
                            })
                        .status()));
    assertTrue(server.awaitReset());
  }

  @Test
  void callThatIsCancelledIsReset() throws Exception {
    answer(request -> ok(request).write(frame(0, new byte[] {1})));

    BridgeException cancelled =
        assertThrows(
            BridgeException.class,
            () ->
                EventLoops.await(
                    vertx,
                    () -> {
                      GrpcChannel.Exchange exchange =
                          channel.call(
                              GrpcChannel.Request.of("/s.S/M", new byte[0], Map.of(), 0),
                              message -> true);
                      vertx.setTimer(100, t -> exchange.cancel());
                      return exchange.status();
                    }));

    assertEquals(ErrorCode.CANCELLED, cancelled.code());
    assertTrue(server.awaitReset());
  }

  @Test
  @SuppressWarnings("deprecation")
  void requestAfterTheLastOneOfAServerThatGoesAwayWasNotExecuted() throws Exception {
    answer(request -> request.connection().goAway(0, 0));

    assertEquals(Executed.NO, failure().executed());
  }

  @Test
  @SuppressWarnings("deprecation")
  void requestThatAServerHadTakenBeforeItWentAwayMayHaveBeenExecuted() throws Exception {
    answer(
        request -> {
          request.connection().goAway(0, Integer.MAX_VALUE);
          vertx.setTimer(50, t -> request.connection().close());
        });

    assertEquals(Executed.UNKNOWN, failure().executed());
  }

  @Test
  void resetAtTheDeadlineIsTheDeadline() throws Exception {
    answer(request -> vertx.setTimer(60, t -> request.response().reset(8)));

    assertEquals(GrpcStatus.DEADLINE_EXCEEDED, call(50, 1).code());
  }

  @Test
  void connectionThatBreaksMeanwhileLeavesTheOutcomeOpen() throws Exception {
    answer(
        request -> {
          ok(request).write(frame(0, new byte[] {1}));
          vertx.setTimer(50, t -> request.connection().close());
        });

    BridgeException failure = failure();
    assertEquals(ErrorCode.UPSTREAM_CRASHED, failure.code());
    assertEquals(Executed.UNKNOWN, failure.executed());
  }

  @Test
  void nextCallUsesANewConnectionAfterTheServerGoesAway() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    answer(
        request -> {
          calls.incrementAndGet();
          request.connection().shutdown(5, TimeUnit.SECONDS);
          ok(request).end(frame(0, new byte[] {1}));
        });

    assertEquals(0, call().code());
    assertEquals(0, call().code());
    assertEquals(2, calls.get());
  }

  @Test
  void receiverThatHasEnoughEndsTheStream() throws Exception {
    answer(
        request -> {
          HttpServerResponse response = ok(request);
          for (int i = 0; i < 10_000; i++) {
            response.write(frame(0, new byte[] {1}));
          }
        });

    assertEquals(0, call(0, 1_000).code());
    assertEquals(1_000, received.size());
    assertTrue(server.awaitReset());
  }

  @Test
  void serverThatIsNotThereWasNotCalled() throws Exception {
    channel = FaultyGrpcServer.channel(vertx, 1, new AtomicBoolean(true));

    BridgeException failure = failure();
    assertEquals(Executed.NO, failure.executed());
    assertTrue(failure.getMessage().contains("127.0.0.1:1"), failure.getMessage());
  }

  @Test
  void callIsNotSentWhileTheNodeMayNotAct() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    answer(
        request -> {
          calls.incrementAndGet();
          ok(request).end(frame(0, new byte[] {1}));
        });
    server.mayAct().set(false);
    vertx.setTimer(200, t -> server.mayAct().set(calls.get() == 0));

    assertEquals(0, call().code());
    assertEquals(1, calls.get());
  }

  @ParameterizedTest
  @CsvSource({"1500,1500m", "99999999,99999999m", "100000000,100000S"})
  void timeoutHasAtMostEightDigits(long millis, String text) {
    assertEquals(text, GrpcChannel.timeout(millis));
  }
}
