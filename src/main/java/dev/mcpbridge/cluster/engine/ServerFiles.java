package dev.mcpbridge.cluster.engine;

import dev.mcpbridge.cluster.engine.EmbeddedServer.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

/** The configuration of an embedded server, as files and system properties. Blocks. */
public final class ServerFiles {
  private static final String CONFIG = "zoo.cfg";
  private static final String DYNAMIC = "dynamicConfigFile=";

  /** Bytes; larger than any entry. */
  private static final int MAX_VALUE_BYTES = 16 << 20;

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
    properties.put("zookeeper.preAllocSize", "1024");
    properties.put("zookeeper.commitLogCount", "100");
    properties.put("zookeeper.jmx.log4j.disable", "true");
    properties.put("jute.maxbuffer", Integer.toString(MAX_VALUE_BYTES));
    properties.put(
        "zookeeper.DigestAuthenticationProvider.superDigest",
        digest(EmbeddedServer.USER + ":" + settings.password()));
    properties.forEach(System.getProperties()::putIfAbsent);
  }

  static String digest(String user) {
    try {
      return DigestAuthenticationProvider.generateDigest(user);
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
    List<String> earlier =
        Files.exists(file)
            ? Files.readAllLines(file).stream().filter(line -> line.startsWith(DYNAMIC)).toList()
            : List.of();
    if (earlier.isEmpty() || !hasState(settings.folder())) {
      Path dynamic = settings.folder().resolve("servers.dynamic");
      Files.write(
          dynamic,
          new TreeMap<>(settings.servers())
              .entrySet().stream()
                  .map(each -> "server." + each.getKey() + "=" + each.getValue() + ":participant")
                  .toList());
      lines.add(DYNAMIC + dynamic);
    } else {
      lines.addAll(earlier);
    }
    return Files.write(file, lines);
  }
}
