package dev.mcpbridge.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Reads the {@code cluster} section and determines which of the members this node is. */
final class ClusterReader {
  private static final String SECRET_VARIABLE = "MCP_CLUSTER_SECRET";

  private final Section cluster;
  private final NodeOptions options;
  private final Map<String, String> environment;

  private ClusterReader(Section cluster, NodeOptions options, Map<String, String> environment) {
    this.cluster = cluster;
    this.options = options;
    this.environment = environment;
  }

  /**
   * @param options null for a node that does not join the cluster
   * @return null if {@code options} is null; the section is validated nevertheless
   */
  static ClusterConfig read(Section cluster, NodeOptions options, Map<String, String> environment) {
    NodeOptions effective = options == null ? new NodeOptions(null, null, null) : options;
    ClusterConfig config = new ClusterReader(cluster, effective, environment).read(options != null);
    return options == null ? null : config;
  }

  private ClusterConfig read(boolean joins) {
    String name = cluster.text("name");
    List<String> members = members(joins);
    String host = cluster.text("host");
    int port = cluster.integer("port");
    int slot = joins && !members.isEmpty() ? slot(members, host, port) : 0;
    String self = members.isEmpty() ? "127.0.0.1:" + port : members.get(slot);
    String secret = cluster.text("secret", environment.getOrDefault(SECRET_VARIABLE, ""));
    ClusterConfig.Tls tls = tls(cluster.section("tls"));
    boolean insecure = cluster.flag("insecure");
    boolean isOneMachine = members.stream().allMatch(ClusterReader::isLoopback);
    if (joins && !isOneMachine) {
      requireSecurity(secret, tls, insecure);
    } else if (joins && !secret.isEmpty() && secret.length() < ClusterSecret.MIN_LENGTH) {
      cluster.report("secret", "expected at least 16 characters: a shorter secret can be guessed");
    }
    return new ClusterConfig(
        name,
        members,
        slot,
        host(self),
        port(self),
        options.node() == null ? cluster.text("node", self) : options.node(),
        List.copyOf(cluster.texts("labels")),
        secret,
        tls,
        cluster.seconds("lease"),
        cluster.text("reload").equals("cluster"));
  }

  private void requireSecurity(String secret, ClusterConfig.Tls tls, boolean insecure) {
    if (secret.length() < ClusterSecret.MIN_LENGTH) {
      cluster.report(
          "secret",
          "nodes on other machines require a secret of at least 16 characters, the same on all"
              + " nodes: set it, for example to \"${file:/path/to/secret}\", or set the variable "
              + SECRET_VARIABLE);
    }
    if (tls == null && !insecure) {
      cluster.report(
          "tls", "required for nodes on other machines; on a private network set insecure: true");
    }
  }

  private List<String> members(boolean joins) {
    TreeSet<String> sorted = new TreeSet<>();
    for (String member : cluster.texts("members")) {
      if (port(member) > 65_535) {
        cluster.report("members", "expected host:port, found \"" + member + '"');
      } else if (!sorted.add(member)) {
        cluster.report("members", member + " is listed twice");
      }
    }
    if (joins && sorted.isEmpty()) {
      cluster.report("members", "expected the addresses of all nodes, including this one");
    }
    return new ArrayList<>(sorted);
  }

  private int slot(List<String> members, String configuredHost, int configuredPort) {
    String host = options.host() == null ? configuredHost : options.host();
    int port = options.port() == null ? configuredPort : options.port();
    boolean isPortSet = options.port() != null || cluster.has("port");
    List<Integer> candidates = new ArrayList<>();
    for (int slot = 0; slot < members.size(); slot++) {
      String member = members.get(slot);
      boolean isCandidate = host == null ? isThisMachine(host(member)) : host(member).equals(host);
      if (isCandidate && (!isPortSet || port(member) == port)) {
        candidates.add(slot);
      }
    }
    if (candidates.size() == 1) {
      return candidates.get(0);
    }
    cluster.report(
        "members",
        candidates.isEmpty()
            ? "no member matches this node: set cluster.host and cluster.port"
            : "more than one member matches this node: set cluster.host and cluster.port");
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
    if (!tls.has("cert") && !tls.has("key") && !tls.has("ca")) {
      return null;
    }
    return new ClusterConfig.Tls(
        tls.pem("cert", "BEGIN CERTIFICATE"),
        tls.pem("key", "PRIVATE KEY"),
        tls.pem("ca", "BEGIN CERTIFICATE"));
  }
}
