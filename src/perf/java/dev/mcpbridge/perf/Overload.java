package dev.mcpbridge.perf;

import dev.mcpbridge.fixture.TestBridge;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Overload of a server with 1, 2, 5 and 10 times its capacity. An open loop sends calls at a fixed
 * rate, whether or not earlier calls have been answered. Reports the rates and latencies of served
 * and refused calls, and the time until a call is served normally again.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class Overload {
  private static final int SERVICE_MILLIS = 20;
  private static final int IN_FLIGHT = 16;
  private static final int CAPACITY = IN_FLIGHT * 1000 / SERVICE_MILLIS;
  private static final String BODY = "{\"ms\":" + SERVICE_MILLIS + "}";

  private final Vertx vertx = Vertx.vertx();
  private final HttpClientAgent client;
  private final RequestOptions request;

  private Overload(int port) {
    this.client =
        vertx.createHttpClient(
            new HttpClientOptions().setKeepAlive(true),
            new PoolOptions().setHttp1MaxSize(1000).setEventLoopSize(1));
    this.request =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setHost("127.0.0.1")
            .setPort(port)
            .setURI("/servers/s/tools/sleep")
            .putHeader("content-type", "application/json");
  }

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[2]);
    try (BridgeProcess bridge = BridgeProcess.ofJar(args[0], configuration())) {
      Overload overload = new Overload(bridge.port());
      overload.rung(0.5, 5);
      System.out.println(
          "offered   served/s   p50      p99      refused/s   p50      p99      other");
      for (double factor : new double[] {1, 2, 5, 10}) {
        System.out.println(overload.rung(factor, seconds));
        System.out.println("          served as before after " + overload.recovery() + " ms");
      }
      System.out.println("resident set: " + bridge.resident() + " kB");
    }
    System.exit(0);
  }

  private static String configuration() {
    String args =
        Stream.of(TestBridge.javaArgs())
            .map(arg -> '"' + arg + '"')
            .collect(Collectors.joining(","));
    return "{\"mcpServers\":{\"s\":{\"command\":\""
        + TestBridge.java()
        + "\",\"args\":["
        + args
        + "],\"maxInFlight\":"
        + IN_FLIGHT
        + ",\"maxQueued\":64}}}";
  }

  /** Served, refused and other responses. */
  private record Outcome(double factor, Samples served, Samples refused, int other) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%5.1f x  %9.0f  %6.1f ms %6.1f ms  %9.0f  %6.1f ms %6.1f ms  %6d",
          factor,
          served.perSecond(),
          served.micros(0.5) / 1e3,
          served.micros(0.99) / 1e3,
          refused.perSecond(),
          refused.micros(0.5) / 1e3,
          refused.micros(0.99) / 1e3,
          other);
    }
  }

  private Outcome rung(double factor, double seconds) throws InterruptedException {
    Samples served = new Samples();
    Samples refused = new Samples();
    int[] other = {0};
    long total = Math.round(factor * CAPACITY * seconds);
    CountDownLatch answered = new CountDownLatch((int) total);
    long begin = System.nanoTime();
    long[] sent = {0};
    vertx.runOnContext(
        v ->
            vertx.setPeriodic(
                1,
                timer -> {
                  double elapsed = (System.nanoTime() - begin) / 1e9;
                  while (sent[0] < total && sent[0] < elapsed * factor * CAPACITY) {
                    sent[0]++;
                    send(served, refused, other, answered);
                  }
                  if (sent[0] == total) {
                    vertx.cancelTimer(timer);
                  }
                }));
    answered.await();
    long elapsed = System.nanoTime() - begin;
    return new Outcome(factor, served.finish(elapsed), refused.finish(elapsed), other[0]);
  }

  private void send(Samples served, Samples refused, int[] other, CountDownLatch answered) {
    long at = System.nanoTime();
    client
        .request(request)
        .compose(out -> out.send(BODY))
        .compose(answer -> answer.body().map(body -> answer))
        .onComplete(
            done -> {
              int status = done.succeeded() ? done.result().statusCode() : 0;
              boolean isRefusal = status == 503 && done.result().getHeader("retry-after") != null;
              if (status == 200) {
                served.add(System.nanoTime() - at);
              } else if (isRefusal) {
                refused.add(System.nanoTime() - at);
              } else {
                other[0]++;
              }
              answered.countDown();
            });
  }

  /** Milliseconds until a call is answered within twice its service time. */
  private long recovery() throws InterruptedException {
    long begin = System.nanoTime();
    while (true) {
      Samples served = new Samples();
      CountDownLatch answered = new CountDownLatch(1);
      send(served, new Samples(), new int[1], answered);
      answered.await();
      if (served.finish(1).micros(0.5) / 1e3 < 2 * SERVICE_MILLIS && served.micros(0.5) > 0) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      }
    }
  }
}
