package dev.mcpbridge.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Reads the {@code cluster} section and determines which of the members this node is. */
final class ClusterReader {
  /** Ports of the coordination store, after the one for messages. */
  private static final int STORE_PORTS = 2;

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
    String address = joins ? address(members) : "127.0.0.1:" + cluster.integer("port");
    String secret = cluster.text("secret", environment.getOrDefault(SECRET_VARIABLE, ""));
    boolean isOneMachine =
        isLoopback(address) && members.stream().allMatch(ClusterReader::isLoopback);
    if (joins && secret.length() < ClusterSecret.MIN_LENGTH) {
      checkSecret(secret, isOneMachine);
    }
    String folder = cluster.text("folder", "");
    return new ClusterConfig(
        name,
        members,
        address,
        host(address),
        options.node() == null ? cluster.text("node", address) : options.node(),
        List.copyOf(cluster.texts("labels")),
        secret,
        tls(cluster.section("tls")),
        cluster.seconds("lease"),
        cluster.text("reload").equals("cluster"),
        folder.isEmpty() ? null : Path.of(folder).toAbsolutePath(),
        cluster.has("zookeeper") ? cluster.text("zookeeper") : null);
  }

  private void checkSecret(String secret, boolean isOneMachine) {
    if (!isOneMachine) {
      cluster.report(
          "secret",
          "nodes on other machines require a secret of at least 16 characters, the same on all"
              + " nodes: set it, for example to \"${file:/path/to/secret}\", or set the variable "
              + SECRET_VARIABLE);
    } else if (!secret.isEmpty()) {
      cluster.report("secret", "expected at least 16 characters: a shorter secret can be guessed");
    }
  }

  private List<String> members(boolean joins) {
    TreeSet<String> sorted = new TreeSet<>();
    for (String member : cluster.texts("members")) {
      if (port(member) + STORE_PORTS > 65_535) {
        cluster.report(
            "members",
            "expected host:port with a port up to "
                + (65_535 - STORE_PORTS)
                + ", found \""
                + member
                + '"');
      } else if (!sorted.add(member)) {
        cluster.report("members", member + " is listed twice");
      }
    }
    if (joins && sorted.isEmpty() && !cluster.has("zookeeper")) {
      cluster.report("members", "expected the addresses of all nodes, including this one");
    }
    checkPorts(sorted);
    return new ArrayList<>(sorted);
  }

  /** Each node takes the port of its address and the next two. */
  private void checkPorts(Collection<String> members) {
    for (String member : members) {
      for (String other : members) {
        int distance = port(other) - port(member);
        if (host(member).equals(host(other)) && distance > 0 && distance <= STORE_PORTS) {
          cluster.report(
              "members",
              "each node needs the port of its address and the next two: "
                  + member
                  + " and "
                  + other
                  + " overlap");
        }
      }
    }
  }

  /** The member that this node is, or the address of a node beyond the members. */
  private String address(List<String> members) {
    String host = options.host() == null ? cluster.text("host") : options.host();
    int port = options.port() == null ? cluster.integer("port") : options.port();
    boolean isPortSet = options.port() != null || cluster.has("port");
    List<String> candidates = new ArrayList<>();
    for (String member : members) {
      boolean isCandidate = host == null ? isThisMachine(host(member)) : host(member).equals(host);
      if (isCandidate && (!isPortSet || port(member) == port)) {
        candidates.add(member);
      }
    }
    if (candidates.size() == 1) {
      return candidates.get(0);
    }
    if (candidates.isEmpty() && host != null && isPortSet) {
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
    cluster.report(
        "members",
        candidates.isEmpty()
            ? "no member matches this node: set cluster.host and cluster.port"
            : "more than one member matches this node: set cluster.host and cluster.port");
    return "127.0.0.1:" + port;
  }

  private static String host(String member) {
    String host = member.substring(0, member.lastIndexOf(':'));
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private static int port(String member) {
    return Integer.parseInt(member.substring(member.lastIndexOf(':') + 1));
  }

  private static boolean isLoopback(String member) {
    return isLoopbackHost(host(member));
  }

  /**
   * @param host a name, or an address with or without brackets
   */
  static boolean isLoopbackHost(String host) {
    return host.equals("localhost")
        || host.equals("::1")
        || host.equals("[::1]")
        || host.matches("127(\\.\\d{1,3}){3}");
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
