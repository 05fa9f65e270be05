package dev.mcpbridge.cluster.engine;

import dev.mcpbridge.cluster.engine.EmbeddedServer.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The configuration of an embedded server, as files and system properties. Blocks. */
public final class ServerFiles {
  private static final String CONFIG = "zoo.cfg";
  private static final String DYNAMIC = "dynamicConfigFile=";

  /** Bytes; larger than any entry. */
  static final int MAX_VALUE_BYTES = 16 << 20;

  private final Settings settings;

  ServerFiles(Settings settings) {
    this.settings = settings;
  }

  /** Whether the folder has the state of an ensemble. */
  public static boolean hasState(Path folder) {
    Path logs = folder.resolve("data").resolve("version-2");
    try (Stream<Path> files = Files.exists(logs) ? Files.list(logs) : Stream.empty()) {
      return files.anyMatch(file -> file.getFileName().toString().startsWith("snapshot."));
    } catch (IOException e) {
      return false;
    }
  }

  /** ZooKeeper reads these from the system properties; there is one node in a process. */
  void setProperties() {
    Map<String, String> properties = new TreeMap<>();
    properties.put("zookeeper.db.autocreate", "false");
    properties.put("zookeeper.cnxTimeout", "500");
    properties.put("zookeeper.fastleader.minNotificationInterval", "100");
    properties.put("zookeeper.fastleader.maxNotificationInterval", "500");
    // the close of a TLS connection to a paused leader would delay the election
    properties.put("zookeeper.learner.closeSocketAsync", "true");
    properties.put("zookeeper.leader.closeSocketAsync", "true");
    // a follower tries five times to connect to the leader that was elected
    properties.put("zookeeper.leaderConnectDelayDuringRetryMs", "100");
    // without followers, a leader would otherwise wait for initLimit before it votes again
    int patience = 5 * settings.tickMillis();
    properties.put("zookeeper.leader.maxTimeToWaitForEpoch", Integer.toString(patience));
    properties.put("zookeeper.preAllocSize", "1024");
    properties.put("zookeeper.commitLogCount", "100");
    properties.put("zookeeper.jmx.log4j.disable", "true");
    properties.put("jute.maxbuffer", Integer.toString(MAX_VALUE_BYTES));
    properties.put(
        "zookeeper.DigestAuthenticationProvider.superDigest",
        digest(EmbeddedServer.USER + ":" + settings.password()));
    properties.forEach(System.getProperties()::putIfAbsent);
  }

  /**
   * ZooKeeper's digest of a user. Its own class for it would read the property of the super user
   * before that is set.
   */
  static String digest(String user) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-1").digest(user.getBytes(StandardCharsets.UTF_8));
      String name = user.substring(0, user.indexOf(':'));
      return name + ":" + Base64.getEncoder().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The ensemble's list of servers is kept; everything else is written anew. */
  Path write() throws IOException {
    Path file = settings.folder().resolve(CONFIG);
    List<String> lines =
        new ArrayList<>(
            List.of(
                "dataDir=" + settings.folder().resolve("data"),
                "tickTime=" + settings.tickMillis(),
                "initLimit=100",
                "syncLimit=6",
                "standaloneEnabled=false",
                "reconfigEnabled=true",
                "localSessionsEnabled=true",
                "admin.enableServer=false",
                "maxClientCnxns=0",
                "snapCount=10000",
                "autopurge.purgeInterval=1",
                "quorumListenOnAllIPs=false",
                "sslQuorum=true",
                "ssl.quorum.keyStore.location=" + settings.certificates(),
                "ssl.quorum.keyStore.type=PEM",
                "ssl.quorum.trustStore.location=" + settings.authority(),
                "ssl.quorum.trustStore.type=PEM",
                "ssl.quorum.hostnameVerification=false",
                "ssl.quorum.clientAuth=need"));
    lines.add(DYNAMIC + servers(file));
    return Files.write(file, lines);
  }

  /** The list of servers that the ensemble has stored here, with this one if it is no voter. */
  private Path servers(Path file) throws IOException {
    Path first = settings.folder().resolve("servers.dynamic");
    Path stored =
        Files.exists(file) && hasState(settings.folder())
            ? Files.readAllLines(file).stream()
                .filter(line -> line.startsWith(DYNAMIC))
                .map(line -> Path.of(line.substring(DYNAMIC.length())))
                .filter(Files::exists)
                .findFirst()
                .orElse(null)
            : null;
    String self = "server." + settings.number() + "=";
    if (stored != null) {
      List<String> lines =
          Files.readAllLines(stored).stream().filter(line -> line.startsWith("server.")).toList();
      if (lines.stream().anyMatch(line -> line.startsWith(self))) {
        return stored;
      }
      List<String> withSelf = new ArrayList<>(lines);
      withSelf.add(self + settings.servers().get(settings.number()) + ":participant");
      return Files.write(first, withSelf);
    }
    return Files.write(
        first,
        new TreeMap<>(settings.servers())
            .entrySet().stream()
                .map(each -> "server." + each.getKey() + "=" + each.getValue() + ":participant")
                .toList());
  }
}
