package dev.mcpbridge.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Understands the {@code cluster} section, and finds out which of the members this node is. */
final class ClusterReader {
  private static final int DEFAULT_PORT = 7800;
  private static final String SECRET_VARIABLE = "MCP_CLUSTER_SECRET";

  private final Section cluster;
  private final NodeOptions choice;
  private final Map<String, String> environment;

  private ClusterReader(Section cluster, NodeOptions choice, Map<String, String> environment) {
    this.cluster = cluster;
    this.choice = choice;
    this.environment = environment;
  }

  /**
   * @param choice null for a node that is not to join
   * @return null for that, too; the section is checked all the same
   */
  static ClusterConfig read(Section cluster, NodeOptions choice, Map<String, String> environment) {
    NodeOptions own = choice == null ? new NodeOptions(null, null, null) : choice;
    ClusterConfig config = new ClusterReader(cluster, own, environment).read(choice != null);
    return choice == null ? null : config;
  }

  private ClusterConfig read(boolean joins) {
    cluster.allowOnly(
        List.of(
            "name",
            "members",
            "host",
            "port",
            "node",
            "labels",
            "secret",
            "tls",
            "lease",
            "reload",
            "insecure"));
    String name = cluster.text("name", "mcp-bridge");
    List<String> members = members(joins);
    String host = cluster.text("host", null);
    int port = cluster.integer("port", DEFAULT_PORT, 1, 65_535);
    int slot = joins && !members.isEmpty() ? slot(members, host, port) : 0;
    String self = members.isEmpty() ? "127.0.0.1:" + DEFAULT_PORT : members.get(slot);
    String secret = cluster.text("secret", environment.getOrDefault(SECRET_VARIABLE, ""));
    ClusterConfig.Tls tls = tls(cluster.section("tls"));
    boolean insecure = cluster.flag("insecure", false);
    boolean isOneMachine = members.stream().allMatch(ClusterReader::isLoopback);
    if (joins && !isOneMachine) {
      requireSafety(secret, tls, insecure);
    } else if (joins && !secret.isEmpty() && secret.length() < ClusterSecret.SHORTEST) {
      cluster.complain("secret", "expected at least 16 characters: a shorter one can be guessed");
    }
    return new ClusterConfig(
        name,
        members,
        slot,
        host(self),
        port(self),
        choice.node() == null ? cluster.text("node", self) : choice.node(),
        List.copyOf(cluster.texts("labels", 100)),
        secret,
        tls,
        cluster.seconds("lease", 1.5, 0.3, 60),
        cluster.oneOf("reload", "node", "node", "cluster").equals("cluster"));
  }

  private void requireSafety(String secret, ClusterConfig.Tls tls, boolean insecure) {
    if (secret.length() < ClusterSecret.SHORTEST) {
      cluster.complain(
          "secret",
          "nodes on other machines need one of at least 16 characters, the same on all of them:"
              + " \"${file:/path/of/it}\" for example, or the variable "
              + SECRET_VARIABLE);
    }
    if (tls == null && !insecure) {
      cluster.complain(
          "tls", "nodes on other machines need it; on a network of their own say insecure: true");
    }
  }

  private List<String> members(boolean joins) {
    TreeSet<String> sorted = new TreeSet<>();
    for (String member : cluster.texts("members", 99)) {
      if (!member.matches("(\\[[0-9a-fA-F:.]+]|[A-Za-z0-9.-]+):\\d{1,5}")
          || port(member) > 65_535) {
        cluster.complain("members", "expected host:port, found \"" + member + '"');
      } else if (!sorted.add(member)) {
        cluster.complain("members", member + " stands there twice");
      }
    }
    if (joins && sorted.isEmpty()) {
      cluster.complain("members", "expected the addresses of all nodes, this one among them");
    }
    return new ArrayList<>(sorted);
  }

  private int slot(List<String> members, String saidHost, int saidPort) {
    String host = choice.host() == null ? saidHost : choice.host();
    int port = choice.port() == null ? saidPort : choice.port();
    boolean isPortSaid = choice.port() != null || cluster.has("port");
    List<Integer> own = new ArrayList<>();
    for (int slot = 0; slot < members.size(); slot++) {
      String member = members.get(slot);
      boolean isHere = host == null ? isThisMachine(host(member)) : host(member).equals(host);
      if (isHere && (!isPortSaid || port(member) == port)) {
        own.add(slot);
      }
    }
    if (own.size() == 1) {
      return own.get(0);
    }
    cluster.complain(
        "members",
        own.isEmpty()
            ? "none of them is this node: say which with cluster.host and cluster.port"
            : "more than one of them can be this node: say which with cluster.host and"
                + " cluster.port");
    return 0;
  }

  private static String host(String member) {
    String host = member.substring(0, member.lastIndexOf(':'));
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private static int port(String member) {
    return Integer.parseInt(member.substring(member.lastIndexOf(':') + 1));
  }

  private static boolean isLoopback(String member) {
    String host = host(member);
    return host.equals("localhost") || host.equals("::1") || host.matches("127(\\.\\d{1,3}){3}");
  }

  private static boolean isThisMachine(String host) {
    try {
      InetAddress address = InetAddress.getByName(host);
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      return false;
    }
  }

  private static ClusterConfig.Tls tls(Section tls) {
    tls.allowOnly(List.of("cert", "key", "ca"));
    if (!tls.has("cert") && !tls.has("key") && !tls.has("ca")) {
      return null;
    }
    return new ClusterConfig.Tls(
        tls.pem("cert", "BEGIN CERTIFICATE"),
        tls.pem("key", "PRIVATE KEY"),
        tls.pem("ca", "BEGIN CERTIFICATE"));
  }
}
