package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.FirstStart.Answer;
import dev.mcpbridge.cluster.FirstStart.Begin;
import dev.mcpbridge.cluster.FirstStart.Conflict;
import dev.mcpbridge.cluster.FirstStart.Decision;
import dev.mcpbridge.cluster.FirstStart.Folder;
import dev.mcpbridge.cluster.FirstStart.Join;
import dev.mcpbridge.cluster.engine.EmbeddedServer;
import dev.mcpbridge.cluster.engine.Engine;
import dev.mcpbridge.cluster.peer.PeerBus;
import dev.mcpbridge.cluster.trust.ClusterKeys;
import dev.mcpbridge.config.ClusterConfig;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Finds out the number of this node and starts its embedded server: with what its folder has, or,
 * if that is empty, as {@link FirstStart} decides after asking the other nodes. Confined to the
 * event loop; starts the server on a worker thread.
 */
final class Bootstrap {
  static final String QUESTION = "cluster.start";
  static final String NUMBERS = "numbers/";
  private static final Logger LOG = System.getLogger(Bootstrap.class.getName());
  private static final long ASK_MILLIS = 100;
  private static final int MAX_NUMBER = 255;
  private static final int TICKS_IN_A_LEASE = 20;

  private final Vertx vertx;
  private final ClusterConfig config;
  private final ClusterKeys keys;
  private final NodeFolder folder;
  private final PeerBus bus;
  private final Promise<EmbeddedServer> started = Promise.promise();
  private final Map<String, Answer> answers = new HashMap<>();
  private final long beganNanos = System.nanoTime();
  private Folder state;
  private int number;
  private EmbeddedServer server;
  private String lastConflict = "";
  private boolean isClosed;

  Bootstrap(Vertx vertx, ClusterConfig config, ClusterKeys keys, NodeFolder folder, PeerBus bus) {
    this.vertx = vertx;
    this.config = config;
    this.keys = keys;
    this.folder = folder;
    this.bus = bus;
    this.state = folder.state();
    this.number = state == Folder.EMPTY ? 0 : folder.number();
  }

  /** The number of this node in the cluster; 0 if it is not known yet. */
  int number() {
    return number;
  }

  /** Completes when the server has been started, which may take part in the cluster much later. */
  Future<EmbeddedServer> start() {
    if (state == Folder.EMPTY) {
      ask();
    } else {
      Map<Integer, String> servers = new TreeMap<>(FirstStart.servers(config.members()));
      servers.put(number, FirstStart.server(config.address()));
      startServer(state == Folder.BEGINNING, servers);
    }
    return started.future();
  }

  void close() {
    isClosed = true;
  }

  private void ask() {
    if (isClosed) {
      return;
    }
    byte[] address = config.address().getBytes(StandardCharsets.UTF_8);
    List<Future<Void>> asked =
        bus.connected().stream()
            .map(
                other ->
                    bus.ask(other, QUESTION, address, config.leaseMillis())
                        .onSuccess(answer -> answers.put(other, Answer.of(answer)))
                        .onFailure(e -> answers.remove(other))
                        .<Void>mapEmpty())
            .toList();
    answers.keySet().retainAll(bus.connected());
    Future.join(asked).onComplete(all -> decide());
  }

  private void decide() {
    long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
    boolean hasWaited = waited > 10 * config.leaseMillis();
    Decision decision = FirstStart.decide(config.address(), config.members(), answers, hasWaited);
    if (decision instanceof Begin begin) {
      number = begin.number();
      state = Folder.BEGINNING;
      startServer(true, begin.servers());
    } else if (decision instanceof Join join) {
      number = join.number();
      Map<Integer, String> servers = new TreeMap<>(join.servers());
      servers.putIfAbsent(number, FirstStart.server(config.address()));
      startServer(false, servers);
    } else {
      if (decision instanceof Conflict conflict) {
        report(conflict);
      }
      vertx.setTimer(ASK_MILLIS, t -> ask());
    }
  }

  private void report(Conflict conflict) {
    String trouble =
        "cluster.members is " + conflict.members() + " there and " + config.members() + " here";
    if (!trouble.equals(lastConflict)) {
      lastConflict = trouble;
      LOG.log(Level.WARNING, "node={0} {1}", conflict.address(), trouble);
    }
  }

  private void startServer(boolean begins, Map<Integer, String> servers) {
    EmbeddedServer.Settings settings =
        new EmbeddedServer.Settings(
            folder.path(),
            number,
            servers,
            (int) Math.max(20, config.leaseMillis() / TICKS_IN_A_LEASE),
            folder.certificate(),
            folder.authority(),
            keys.storePassword());
    EmbeddedServer created = new EmbeddedServer(settings);
    vertx
        .executeBlocking(
            () -> {
              try {
                folder.numbered(number, begins);
                created.start(begins);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              return created;
            },
            false)
        .onSuccess(running -> server = running)
        .onComplete(started);
  }

  /** Obtains the number of this node from a store that the operator runs. */
  void takeNumber(Engine engine) {
    number(engine, config.address(), Map.of()).onSuccess(taken -> number = taken);
  }

  /** The node is part of the cluster. */
  void established() {
    if (config.zookeeper() == null && state != Folder.ESTABLISHED) {
      state = Folder.ESTABLISHED;
      vertx
          .executeBlocking(
              () -> {
                folder.established();
                return null;
              },
              false)
          .onFailure(e -> LOG.log(Level.ERROR, "{0}: {1}", folder.path(), e));
    }
  }

  // --- answers to other nodes

  /**
   * Answers a node with an empty folder.
   *
   * @param engine null if this node has no connection to the store
   */
  Future<byte[]> answer(byte[] question, Engine engine) {
    String address = new String(question, StandardCharsets.UTF_8);
    Map<Integer, String> servers = server == null ? Map.of() : server.voters();
    return numberOf(address, servers, engine)
        .map(found -> new Answer(state, config.members(), servers, found).toBytes());
  }

  private Future<Integer> numberOf(String address, Map<Integer, String> servers, Engine engine) {
    String spec = FirstStart.server(address);
    for (Map.Entry<Integer, String> each : servers.entrySet()) {
      if (each.getValue().equals(spec)) {
        return Future.succeededFuture(each.getKey());
      }
    }
    if (engine == null || state != Folder.ESTABLISHED || !engine.health().isConnected()) {
      return Future.succeededFuture(0);
    }
    return number(engine, address, servers);
  }

  /** The number of an address, which gets a new one if it has none. */
  static Future<Integer> number(Engine engine, String address, Map<Integer, String> servers) {
    Map<String, Engine.Entry> numbers = engine.children(NUMBERS);
    for (Map.Entry<String, Engine.Entry> each : numbers.entrySet()) {
      if (address.equals(new String(each.getValue().value(), StandardCharsets.UTF_8))) {
        return Future.succeededFuture(Integer.parseInt(each.getKey()));
      }
    }
    for (int free = 1; free <= MAX_NUMBER; free++) {
      if (!servers.containsKey(free) && !numbers.containsKey(Integer.toString(free))) {
        int taken = free;
        return engine
            .commit(
                List.of(
                    new Engine.Change(
                        NUMBERS + free, Engine.ABSENT, address.getBytes(StandardCharsets.UTF_8))))
            .compose(
                applied ->
                    applied == Engine.CONFLICT
                        ? number(engine, address, servers)
                        : Future.succeededFuture(taken));
      }
    }
    return Future.succeededFuture(0);
  }
}
