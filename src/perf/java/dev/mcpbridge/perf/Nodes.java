package dev.mcpbridge.perf;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Three nodes on loopback. Compares the same call at the owner of the server and at another node,
 * alternately, with 1, 8 and 64 requests in flight. Only the ratios are meaningful.
 *
 * <p>Arguments: the bridge's jar, a folder (unused), seconds for each step.
 */
public final class Nodes {
  private static final double WARM_UP_SECONDS = 15;
  private static final int ROUNDS = 3;

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<BridgeProcess> nodes = new ArrayList<>();

  public static void main(String[] args) throws Exception {
    Nodes cluster = new Nodes();
    try {
      cluster.start(args[0]);
      cluster.measure(Double.parseDouble(args[2]));
    } finally {
      for (BridgeProcess node : cluster.nodes) {
        node.close();
      }
    }
  }

  private void start(String jar) throws Exception {
    List<Integer> ports = List.of(freePort(), freePort(), freePort());
    String members =
        ports.stream().map(port -> "\"127.0.0.1:" + port + '"').collect(Collectors.joining(","));
    String configuration =
        "{\"cluster\":{\"members\":[" + members + "]}," + EchoUpstream.servers() + "}";
    for (int port : ports) {
      nodes.add(BridgeProcess.ofJar(jar, configuration, "--cluster-port", Integer.toString(port)));
    }
    for (BridgeProcess node : nodes) {
      while (get(node, "/health/ready").statusCode() != 200) {
        Thread.sleep(100);
      }
    }
  }

  private void measure(double seconds) throws Exception {
    BridgeProcess owner = null;
    BridgeProcess other = null;
    String ownerView = get(nodes.get(0), "/servers/echo").body();
    for (BridgeProcess node : nodes) {
      String name = get(node, "/health/ready").body().replaceAll(".*\"node\":\"([^\"]+)\".*", "$1");
      if (ownerView.contains("\"node\":\"" + name + '"')) {
        owner = node;
      } else {
        other = node;
      }
    }
    new HttpLoad(owner.port(), 64, EchoUpstream.PATH, EchoUpstream.CALL).run(WARM_UP_SECONDS, 1);
    new HttpLoad(other.port(), 64, EchoUpstream.PATH, EchoUpstream.CALL).run(WARM_UP_SECONDS, 1);
    for (int connections : new int[] {1, 8, 64}) {
      for (int round = 0; round < ROUNDS; round++) {
        Samples atOwner =
            new HttpLoad(owner.port(), connections, EchoUpstream.PATH, EchoUpstream.CALL)
                .run(1, seconds);
        Samples atOther =
            new HttpLoad(other.port(), connections, EchoUpstream.PATH, EchoUpstream.CALL)
                .run(1, seconds);
        System.out.printf(
            Locale.ROOT,
            "c=%-3d owner %8.0f/s p50 %7.1f us   other %8.0f/s p50 %7.1f us   %.2f   %+.1f us%n",
            connections,
            atOwner.perSecond(),
            atOwner.micros(0.5),
            atOther.perSecond(),
            atOther.micros(0.5),
            atOther.perSecond() / atOwner.perSecond(),
            atOther.micros(0.5) - atOwner.micros(0.5));
      }
    }
  }

  private HttpResponse<String> get(BridgeProcess node, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + node.port() + path);
    return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
