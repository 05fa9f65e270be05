package dev.mcpbridge.perf;

import dev.mcpbridge.fixture.Authority;
import dev.mcpbridge.fixture.TestBridge;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * How long a small call takes beside 200 event streams and 1,000 calls under way, over TLS: over
 * ten connections of HTTP/2, and over as many of HTTP/1.1 as are needed. The same bridge, in turns.
 * Only the ratios are meaningful.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class WebClients {
  private static final int STREAMS = 200;
  private static final int UNDER_WAY = 1_000;
  private static final int CONNECTIONS = 10;
  private static final int ROUNDS = 5;
  private static final Buffer SLEEP = Buffer.buffer("{\"ms\":1000}");
  private static final Buffer NOTHING = Buffer.buffer("{}");

  private final Vertx vertx = Vertx.vertx();
  private final int port;
  private volatile boolean isOver;

  private WebClients(int port) {
    this.port = port;
  }

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[2]);
    Path tls =
        Authority.create(Files.createTempDirectory("bench").resolve("ca"))
            .certificateFiles("tls", "dns:localhost,ip:127.0.0.1");
    String configuration =
        TestBridge.json(
            "{'http':{'tls':{'cert':'%s','key':'%s'},'maxStreams':1000},'mcpServers':{'s':%s}}"
                .formatted(
                    tls.resolve("cert.pem"),
                    tls.resolve("key.pem"),
                    TestBridge.entry("'maxInFlight':2000,'maxQueued':2000")));
    try (BridgeProcess bridge = BridgeProcess.ofJar(args[0], configuration)) {
      p99(bridge, HttpVersion.HTTP_1_1, 3);
      for (int round = 0; round < ROUNDS; round++) {
        double older = p99(bridge, HttpVersion.HTTP_1_1, seconds);
        double newer = p99(bridge, HttpVersion.HTTP_2, seconds);
        System.out.printf(
            Locale.ROOT,
            "p99 HTTP/1.1 %.1f ms   HTTP/2 %.1f ms   ratio %.2f%n",
            older / 1e3,
            newer / 1e3,
            newer / older);
      }
    }
  }

  /** Microseconds. */
  private static double p99(BridgeProcess bridge, HttpVersion version, double seconds)
      throws Exception {
    WebClients clients = new WebClients(bridge.port());
    try {
      return clients.run(version, seconds).micros(0.99);
    } finally {
      clients.isOver = true;
      clients.vertx.close().await(30, TimeUnit.SECONDS);
    }
  }

  private Samples run(HttpVersion version, double seconds) throws Exception {
    boolean isNew = version == HttpVersion.HTTP_2;
    HttpClientOptions options =
        new HttpClientOptions()
            .setProtocolVersion(version)
            .setUseAlpn(isNew)
            .setSsl(true)
            .setTrustAll(true)
            .setVerifyHost(false)
            .setHttp2MultiplexingLimit((STREAMS + UNDER_WAY) / CONNECTIONS + 5);
    HttpClient client =
        vertx.createHttpClient(
            options,
            new PoolOptions()
                .setHttp2MaxSize(CONNECTIONS)
                .setHttp1MaxSize(STREAMS + UNDER_WAY + CONNECTIONS));
    for (int i = 0; i < STREAMS; i++) {
      open(client).await(30, TimeUnit.SECONDS);
    }
    for (int i = 0; i < UNDER_WAY; i++) {
      keepCalling(client);
    }
    call(client, "sleep", SLEEP).await(30, TimeUnit.SECONDS);
    Samples samples = new Samples();
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < seconds * 1e9) {
      long sent = System.nanoTime();
      call(client, "echo", NOTHING).await(30, TimeUnit.SECONDS);
      samples.add(System.nanoTime() - sent);
    }
    return samples.finish(System.nanoTime() - begin);
  }

  private Future<?> open(HttpClient client) {
    return client
        .request(HttpMethod.GET, port, "127.0.0.1", "/events")
        .compose(request -> request.putHeader("accept", "text/event-stream").send())
        .onSuccess(response -> response.handler(chunk -> {}));
  }

  private void keepCalling(HttpClient client) {
    call(client, "sleep", SLEEP)
        .onSuccess(
            done -> {
              if (!isOver) {
                keepCalling(client);
              }
            })
        .onFailure(
            failure -> {
              if (!isOver) {
                System.out.println("failed: " + failure);
              }
            });
  }

  private Future<Buffer> call(HttpClient client, String tool, Buffer arguments) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setHost("127.0.0.1")
            .setPort(port)
            .setURI("/servers/s/tools/" + tool)
            .putHeader("content-type", "application/json");
    return client
        .request(options)
        .compose(request -> request.send(arguments))
        .compose(
            response ->
                response.statusCode() == 200
                    ? response.body()
                    : Future.failedFuture("status " + response.statusCode()));
  }
}
