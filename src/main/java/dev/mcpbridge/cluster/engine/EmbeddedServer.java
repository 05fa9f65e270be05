package dev.mcpbridge.cluster.engine;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.metrics.impl.DefaultMetricsProvider;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.apache.zookeeper.util.ServiceUtils;

/**
 * A ZooKeeper server in this process. It writes every change to its folder before the change
 * counts. Servers reach each other with mutual TLS on two ports; clients connect on a loopback port
 * that only this process is told. Start and stop block; the rest is thread-safe.
 *
 * <p>A server with an empty folder takes part in no vote until it has the state of the others,
 * unless it is told to begin a new ensemble. So a server that lost its disk cannot make the others
 * forget.
 */
public final class EmbeddedServer {
  private static final Logger LOG = System.getLogger(EmbeddedServer.class.getName());
  static final String USER = "super";

  /** Elections that last longer get new connections. */
  private static final long LOOKING_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final Settings settings;
  private ServerCnxnFactory clients;
  private volatile QuorumPeer peer;
  private volatile boolean hasFailed;
  private long lookingSinceNanos;

  /**
   * What a server needs.
   *
   * @param folder private folder of this node
   * @param number number of this server in the ensemble
   * @param servers servers of the ensemble and this one, {@code host:port:port} by number; used at
   *     the first start only, since the ensemble stores its own list
   * @param tickMillis time unit: six without a word from the leader end its term
   * @param certificates PEM file with key and certificate of this node
   * @param authority PEM file with the certificates of the authority
   * @param password of the bridge's user
   */
  public record Settings(
      Path folder,
      int number,
      Map<Integer, String> servers,
      int tickMillis,
      Path certificates,
      Path authority,
      String password) {}

  /** Sets what only subclasses may set. */
  private static final class Server extends QuorumPeer {
    Server() throws IOException {
      super();
    }

    void configFile(String name) {
      setConfigFileName(name);
    }
  }

  public EmbeddedServer(Settings settings) {
    this.settings = settings;
  }

  /**
   * Starts the server.
   *
   * @param beginsEnsemble whether this server, with an empty folder, may vote at once
   */
  public void start(boolean beginsEnsemble) throws IOException {
    ServiceUtils.setSystemExitProcedure(this::failed);
    ServerFiles files = new ServerFiles(settings);
    files.setProperties();
    Path data = Files.createDirectories(settings.folder().resolve("data"));
    Files.writeString(data.resolve("myid"), Integer.toString(settings.number()));
    if (beginsEnsemble && !ServerFiles.hasState(settings.folder())) {
      Files.writeString(data.resolve("initialize"), "");
    }
    QuorumPeerConfig config = new QuorumPeerConfig();
    try {
      config.parse(files.write().toString());
    } catch (ConfigException e) {
      throw new IOException(settings.folder() + ": " + e.getMessage(), e);
    }
    peer = started(config);
  }

  private void failed(int code) {
    hasFailed = true;
    LOG.log(Level.ERROR, "the coordination store of this node failed, code={0}", code);
  }

  private QuorumPeer started(QuorumPeerConfig config) throws IOException {
    ServerMetrics.metricsProviderInitialized(new DefaultMetricsProvider());
    ProviderRegistry.initialize();
    clients = ServerCnxnFactory.createFactory();
    clients.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0, -1, false);
    Server server = new Server();
    server.setTxnFactory(new FileTxnSnapLog(config.getDataLogDir(), config.getDataDir()));
    server.enableLocalSessions(config.areLocalSessionsEnabled());
    server.setElectionType(config.getElectionAlg());
    server.setMyid(config.getServerId());
    server.setTickTime(config.getTickTime());
    server.setMinSessionTimeout(config.getMinSessionTimeout());
    server.setMaxSessionTimeout(config.getMaxSessionTimeout());
    server.setInitLimit(config.getInitLimit());
    server.setSyncLimit(config.getSyncLimit());
    server.configFile(config.getConfigFilename());
    server.setZKDatabase(new ZKDatabase(server.getTxnFactory()));
    server.setQuorumVerifier(config.getQuorumVerifier(), false);
    if (config.getLastSeenQuorumVerifier() != null) {
      server.setLastSeenQuorumVerifier(config.getLastSeenQuorumVerifier(), false);
    }
    server.initConfigInZKDatabase();
    server.setCnxnFactory(clients);
    server.setSslQuorum(true);
    server.setUsePortUnification(false);
    server.setLearnerType(config.getPeerType());
    server.setSyncEnabled(config.getSyncEnabled());
    server.setQuorumListenOnAllIPs(config.getQuorumListenOnAllIPs());
    server.initialize();
    server.start();
    return server;
  }

  /** The loopback port for clients. */
  int clientPort() {
    return clients.getLocalPort();
  }

  /** Whether the server takes part in the ensemble. */
  boolean isServing() {
    QuorumPeer server = peer;
    ZooKeeperServer active = server == null ? null : server.getActiveServer();
    return active != null && active.isRunning() && !hasFailed;
  }

  /** Whether the server ended because of an error, such as a full disk. */
  public boolean hasFailed() {
    return hasFailed;
  }

  int leader() {
    return isServing() ? (int) peer.getCurrentVote().getId() : -1;
  }

  long term() {
    try {
      return peer == null ? 0 : peer.getCurrentEpoch();
    } catch (IOException e) {
      return 0;
    }
  }

  /** The voting servers, {@code host:port:port} by number. */
  public Map<Integer, String> voters() {
    Map<Integer, String> voters = new TreeMap<>();
    QuorumPeer server = peer;
    QuorumVerifier verifier = server == null ? null : server.getQuorumVerifier();
    if (verifier != null) {
      verifier
          .getVotingMembers()
          .forEach((number, each) -> voters.put(number.intValue(), spec(each)));
    }
    return voters;
  }

  private static String spec(QuorumServer server) {
    InetSocketAddress quorum = server.addr.getOne();
    InetSocketAddress election = server.electionAddr.getOne();
    String host = quorum.getHostString();
    return (host.contains(":") ? "[" + host + "]" : host)
        + ":"
        + quorum.getPort()
        + ":"
        + election.getPort();
  }

  /**
   * Replaces the connections of an election that does not end. After a cut the old ones would be
   * used again only when TCP repeats what was lost, up to 25 s later. To be called about each
   * second.
   */
  public void renewElectionConnections() {
    QuorumPeer server = peer;
    if (server == null || server.getPeerState() != ServerState.LOOKING) {
      lookingSinceNanos = 0;
      return;
    }
    long now = System.nanoTime();
    if (lookingSinceNanos == 0) {
      lookingSinceNanos = now;
    } else if (now - lookingSinceNanos > LOOKING_NANOS && server.getQuorumCnxManager() != null) {
      server.getQuorumCnxManager().softHalt();
    }
  }

  /** Ends the server. */
  public void stop() {
    QuorumPeer server = peer;
    peer = null;
    if (server != null) {
      server.shutdown();
    }
  }
}
