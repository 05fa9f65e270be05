package dev.mcpbridge.perf;

import dev.mcpbridge.fixture.GrpcServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Locale;

/**
 * What a call of a gRPC server and a result from the cache cost, compared with a REST call of a
 * stdio server: the same bridge, in turns. The gRPC server runs in the process of the load. Only
 * the ratios are meaningful.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class UpstreamCost {
  private static final String REQUEST = "{\"responseSize\":60}";
  private static final double WARM_UP_SECONDS = 15;
  private static final int ROUNDS = 5;
  private static final int CONNECTIONS = 64;

  private UpstreamCost() {}

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[2]);
    try (GrpcServer server = GrpcServer.start();
        BridgeProcess bridge = BridgeProcess.ofJar(args[0], configuration(server))) {
      for (String path : new String[] {EchoUpstream.PATH, "/servers/kept/tools/echo"}) {
        run(bridge, path, EchoUpstream.CALL, WARM_UP_SECONDS, 1);
      }
      requireKept(bridge);
      run(bridge, grpc(), REQUEST, WARM_UP_SECONDS, 1);
      for (int round = 0; round < ROUNDS; round++) {
        Samples stdio = run(bridge, EchoUpstream.PATH, EchoUpstream.CALL, 1, seconds);
        Samples grpc = run(bridge, grpc(), REQUEST, 1, seconds);
        Samples kept = run(bridge, "/servers/kept/tools/echo", EchoUpstream.CALL, 1, seconds);
        System.out.printf(
            Locale.ROOT,
            "stdio %.0f/s   gRPC %.0f/s, cost %.2f   kept %.0f/s, gain %.2f%n",
            stdio.perSecond(),
            grpc.perSecond(),
            stdio.perSecond() / grpc.perSecond(),
            kept.perSecond(),
            kept.perSecond() / stdio.perSecond());
      }
    }
  }

  private static String grpc() {
    return "/servers/grpc/tools/TestService_UnaryCall";
  }

  /** Fails if the cache is not used, as with a server whose results cannot be kept. */
  private static void requireKept(BridgeProcess bridge) throws Exception {
    String path = "http://localhost:" + bridge.port() + "/servers/kept/tools/echo";
    HttpResponse<String> second = null;
    for (int i = 0; i < 2; i++) {
      second =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(URI.create(path))
                      .header("content-type", "application/json")
                      .POST(HttpRequest.BodyPublishers.ofString(EchoUpstream.CALL))
                      .build(),
                  HttpResponse.BodyHandlers.ofString());
    }
    if (!second.headers().firstValue("cache-status").orElse("").contains("hit")) {
      throw new IllegalStateException("not kept: " + second.body());
    }
  }

  private static Samples run(
      BridgeProcess bridge, String path, String arguments, double warmUp, double seconds)
      throws Exception {
    return new HttpLoad(bridge.port(), CONNECTIONS, path, arguments, "").run(warmUp, seconds);
  }

  private static String configuration(GrpcServer server) {
    String stdio = EchoUpstream.servers();
    String entry = stdio.substring(stdio.indexOf("{\"command\""), stdio.length() - 1);
    return "{\"mcpServers\":{\"echo\":"
        + entry
        + ",\"kept\":"
        + entry.substring(0, entry.length() - 1)
        + ",\"cache\":{\"tools\":{\"echo\":{\"ttl\":3600}}}},\"grpc\":{\"type\":\"grpc\",\"url\":\""
        + server.url()
        + "\"}}}";
  }
}
