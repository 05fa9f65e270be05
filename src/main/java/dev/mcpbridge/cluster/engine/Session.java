package dev.mcpbridge.cluster.engine;

import dev.mcpbridge.cluster.engine.Copy.Node;
import dev.mcpbridge.cluster.engine.Engine.Change;
import dev.mcpbridge.cluster.engine.Engine.Entry;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;

/**
 * One session with a ZooKeeper server, used until the first trouble. ZooKeeper answers the requests
 * of a session in order and tells of changes in the same order, and everything is passed on to the
 * context in that order; so the copy is as new as each answer.
 */
final class Session {
  private static final Logger LOG = System.getLogger(Session.class.getName());
  private static final String DATA = "/data";
  private static final String CLOCK = "/clock";
  private static final byte[] NOTHING = {};

  private final ZooKeeperEngine.Options options;
  private final EmbeddedServer embedded;
  private final Context context;
  private final Copy copy;
  private final Promise<Void> ready = Promise.promise();
  private final List<ACL> access;
  private ZooKeeperAdmin client;
  private volatile boolean isOver;
  private boolean isLoaded;

  /** What has been read so far, until the copy is complete. */
  private final Map<String, Node> loading = new HashMap<>();

  /** The store's clock at the last fence, in milliseconds. */
  private long storeMillis;

  Session(ZooKeeperEngine.Options options, EmbeddedServer embedded, Context context, Copy copy) {
    this.options = options;
    this.embedded = embedded;
    this.context = context;
    this.copy = copy;
    this.access = access();
    String address = embedded == null ? options.connect() : "127.0.0.1:" + embedded.clientPort();
    try {
      ZKClientConfig config = new ZKClientConfig();
      config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
      config.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(ServerFiles.MAX_VALUE_BYTES));
      client = new ZooKeeperAdmin(address, options.timeoutMillis(), this::onEvent, config);
      client.addAuthInfo("digest", bytes(EmbeddedServer.USER + ":" + options.password()));
    } catch (IOException e) {
      end(e.getMessage());
    }
  }

  private List<ACL> access() {
    Id user = new Id("digest", ServerFiles.digest(EmbeddedServer.USER + ":" + options.password()));
    return List.of(new ACL(ZooDefs.Perms.ALL, user));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Completes when changes can be sent and the copy is complete. */
  Future<Void> ready() {
    return ready.future();
  }

  boolean isReady() {
    return isLoaded && !isOver;
  }

  boolean isOver() {
    return isOver;
  }

  /** Ends the session without waiting for the server. */
  void close() {
    end("closed");
  }

  private void end(String reason) {
    if (isOver) {
      return;
    }
    isOver = true;
    LOG.log(Level.DEBUG, "session ended: {0}", reason);
    ready.tryFail(reason);
    ZooKeeper old = client;
    if (old != null) {
      Thread closing = new Thread(() -> closeQuietly(old), "mcp-cluster-session-close");
      closing.setDaemon(true);
      closing.start();
    }
  }

  private static void closeQuietly(ZooKeeper old) {
    try {
      old.close(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // --- events, on ZooKeeper's event thread

  private void onEvent(WatchedEvent event) {
    if (event.getType() == EventType.None) {
      KeeperState state = event.getState();
      if (state == KeeperState.SyncConnected) {
        on(this::prepare);
      } else {
        on(() -> end(String.valueOf(state)));
      }
    } else {
      on(() -> onChange(event));
    }
  }

  private void on(Runnable action) {
    context.runOnContext(v -> action.run());
  }

  private void onChange(WatchedEvent event) {
    String key = key(event.getPath());
    if (isOver || key == null) {
      return;
    }
    if (event.getType() == EventType.NodeDeleted) {
      remove(key);
    } else if (event.getType() != EventType.NodeChildrenChanged) {
      read(key);
    }
  }

  private void remove(String key) {
    if (isLoaded) {
      copy.remove(key);
    } else {
      loading.remove(key);
    }
  }

  private String key(String path) {
    String prefix = options.root() + DATA + "/";
    return path != null && path.startsWith(prefix) ? path.substring(prefix.length()) : null;
  }

  private String path(String key) {
    return options.root() + DATA + "/" + key;
  }

  // --- requests of ZooKeeper

  /** Receives the code and the value of an answer. */
  private interface Answer<T> {
    void take(int code, T value);
  }

  /** Sends a request. Answers arrive on the context, in the order of the requests. */
  private <T> Future<T> ask(Consumer<Answer<T>> request) {
    Promise<T> promise = Promise.promise();
    request.accept(
        (code, value) ->
            on(
                () -> {
                  if (code == Code.OK.intValue()) {
                    promise.tryComplete(value);
                  } else {
                    promise.tryFail(KeeperException.create(Code.get(code)));
                  }
                }));
    return promise.future();
  }

  private static boolean is(Throwable failure, Code... codes) {
    return failure instanceof KeeperException e && List.of(codes).contains(e.code());
  }

  /** Passes on a result that a failure with this code stands for. */
  private static <T> Function<Throwable, Future<T>> unless(Code code, T result) {
    return failure ->
        is(failure, code) ? Future.succeededFuture(result) : Future.failedFuture(failure);
  }

  private Future<Void> create(String path) {
    return path.isEmpty()
        ? Future.succeededFuture()
        : this.<String>ask(
                answer ->
                    client.create(
                        path,
                        NOTHING,
                        access,
                        CreateMode.PERSISTENT,
                        (code, p, ctx, name) -> answer.take(code, name),
                        null))
            .recover(unless(Code.NODEEXISTS, path))
            .<Void>mapEmpty()
            .recover(
                failure ->
                    is(failure, Code.NONODE)
                        ? create(parent(path)).compose(created -> create(path))
                        : Future.failedFuture(failure));
  }

  private static String parent(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  /** A node of ZooKeeper as it was read. */
  private record Read(byte[] data, Stat stat) {}

  /** Reads a node; null if it does not exist. */
  private Future<Read> readNode(String path) {
    return this.<Read>ask(
            answer ->
                client.getData(
                    path,
                    false,
                    (code, p, ctx, data, stat) -> answer.take(code, new Read(data, stat)),
                    null))
        .recover(unless(Code.NONODE, null));
  }

  // --- opening

  private void prepare() {
    protect("/")
        .compose(done -> protect("/zookeeper/quota"))
        .compose(done -> create(options.root()))
        .compose(done -> create(options.root() + DATA))
        .compose(done -> create(options.root() + CLOCK))
        .compose(done -> fence())
        .compose(done -> addWatch())
        .compose(done -> load(options.root() + DATA))
        .onSuccess(
            done -> {
              if (!isOver) {
                isLoaded = true;
                copy.replace(loading);
                loading.clear();
                ready.tryComplete();
              }
            })
        .onFailure(e -> end(String.valueOf(e.getMessage())));
  }

  /** Other users of this machine can connect to an embedded server, but change nothing. */
  private Future<Void> protect(String path) {
    return embedded == null
        ? Future.succeededFuture()
        : this.<Stat>ask(
                answer ->
                    client.setACL(
                        path, access, -1, (code, p, ctx, stat) -> answer.take(code, stat), null))
            .mapEmpty();
  }

  private Future<Void> addWatch() {
    return ask(
        answer ->
            client.addWatch(
                options.root() + DATA,
                this::onEvent,
                AddWatchMode.PERSISTENT_RECURSIVE,
                (code, p, ctx) -> answer.take(code, null),
                null));
  }

  /** Reads everything below a path; entries that change meanwhile are read again. */
  private Future<Void> load(String path) {
    return this.<List<String>>ask(
            answer ->
                client.getChildren(
                    path, false, (code, p, ctx, names) -> answer.take(code, names), null))
        .recover(unless(Code.NONODE, List.of()))
        .compose(
            names ->
                Future.all(names.stream().map(name -> loadNode(path + "/" + name)).toList())
                    .mapEmpty());
  }

  private Future<Void> loadNode(String path) {
    return readNode(path)
        .compose(
            node -> {
              if (node == null) {
                return Future.succeededFuture();
              }
              if (node.stat().getNumChildren() > 0 || node.data().length == 0) {
                return load(path);
              }
              put(key(path), node, Math.max(0, storeMillis - node.stat().getMtime()));
              return Future.succeededFuture();
            });
  }

  private void read(String key) {
    readNode(path(key))
        .onSuccess(
            node -> {
              if (node != null && node.data().length > 0) {
                put(key, node, 0);
              }
            });
  }

  private void put(String key, Read read, long ageMillis) {
    try {
      byte[] value = options.seal().open(bytes(key), read.data());
      Node node =
          new Node(new Entry(value, read.stat().getMzxid(), ageMillis), read.stat().getVersion());
      if (isLoaded) {
        copy.put(key, node);
      } else {
        loading.put(key, node);
      }
    } catch (GeneralSecurityException e) {
      LOG.log(Level.ERROR, "an entry of the store was written with another cluster.secret");
    }
  }

  // --- requests

  /** As {@link Engine#fence}; notes the store's clock. */
  Future<Void> fence() {
    return this.<Stat>ask(
            answer ->
                client.setData(
                    options.root() + CLOCK,
                    NOTHING,
                    -1,
                    (code, p, ctx, stat) -> answer.take(code, stat),
                    null))
        .onSuccess(stat -> storeMillis = stat.getMtime())
        .onFailure(this::lost)
        .compose(stat -> flush());
  }

  /** What was read because of earlier changes has arrived when this request is answered. */
  private Future<Void> flush() {
    return this.<Stat>ask(
            answer ->
                client.exists(
                    options.root() + CLOCK,
                    false,
                    (code, p, ctx, stat) -> answer.take(code, stat),
                    null))
        .onFailure(this::lost)
        .mapEmpty();
  }

  private void lost(Throwable failure) {
    end("request failed: " + failure.getMessage());
  }

  /**
   * Changes the voters.
   *
   * @param joining a server, in ZooKeeper's notation; null for none
   * @param leaving number of a server; null for none
   */
  Future<Void> changeVoters(String joining, String leaving) {
    return this.<byte[]>ask(
            answer ->
                client.reconfigure(
                    joining,
                    leaving,
                    null,
                    -1,
                    (code, path, ctx, data, stat) -> answer.take(code, data),
                    null))
        .recover(failure -> Future.failedFuture(refused(failure)))
        .mapEmpty();
  }

  private static BridgeException refused(Throwable failure) {
    return new BridgeException(
        ErrorCode.VOTERS_UNCHANGED,
        "The coordination store did not change its voters ("
            + failure.getMessage()
            + "): a majority of the new voters must be connected and up to date");
  }

  /** As {@link Engine#commit}; fails if the outcome is unknown. */
  Future<Long> commit(List<Change> changes) {
    Future<Long> version = changes.size() == 1 ? commitOne(changes.get(0)) : commitAll(changes);
    return version
        .compose(committed -> flush().transform(over -> Future.succeededFuture(committed)))
        .recover(failure -> undone(changes, failure));
  }

  private Future<Long> undone(List<Change> changes, Throwable failure) {
    boolean needsParent =
        is(failure, Code.NONODE)
            && changes.stream().anyMatch(change -> change.expected() == Engine.ABSENT);
    if (needsParent) {
      return createParents(changes).compose(created -> commit(changes));
    }
    if (is(failure, Code.BADVERSION, Code.NODEEXISTS, Code.NONODE)) {
      return Future.succeededFuture(Engine.CONFLICT);
    }
    lost(failure);
    return Future.failedFuture(failure);
  }

  private Future<Long> commitOne(Change change) {
    String path = path(change.key());
    int version = copy.dataVersion(change.key());
    if (change.value() == null) {
      return ask(
          answer ->
              client.delete(
                  path, version, (code, p, ctx) -> answer.take(code, Engine.ABSENT), null));
    }
    byte[] data = sealed(change);
    return this.<Stat>ask(
            answer -> {
              if (change.expected() == Engine.ABSENT) {
                client.create(
                    path,
                    data,
                    access,
                    CreateMode.PERSISTENT,
                    (code, p, ctx, name, stat) -> answer.take(code, stat),
                    null);
              } else {
                client.setData(
                    path, data, version, (code, p, ctx, stat) -> answer.take(code, stat), null);
              }
            })
        .map(Stat::getMzxid);
  }

  private Future<Long> commitAll(List<Change> changes) {
    List<Op> ops = changes.stream().map(this::op).toList();
    return this.<List<OpResult>>ask(
            answer ->
                client.multi(ops, (code, path, ctx, results) -> answer.take(code, results), null))
        .map(Session::version);
  }

  /** All changes of a transaction have the same version. */
  private static long version(List<OpResult> results) {
    return results.stream()
        .filter(OpResult.SetDataResult.class::isInstance)
        .mapToLong(result -> ((OpResult.SetDataResult) result).getStat().getMzxid())
        .findFirst()
        .orElse(Engine.ABSENT);
  }

  private Op op(Change change) {
    String path = path(change.key());
    if (change.expected() == Engine.ABSENT) {
      return Op.create(path, sealed(change), access, CreateMode.PERSISTENT);
    }
    int version = copy.dataVersion(change.key());
    return change.value() == null
        ? Op.delete(path, version)
        : Op.setData(path, sealed(change), version);
  }

  private byte[] sealed(Change change) {
    return options.seal().seal(bytes(change.key()), change.value());
  }

  private Future<Void> createParents(List<Change> changes) {
    Future<Void> created = Future.succeededFuture();
    for (Change change : changes) {
      if (change.expected() == Engine.ABSENT) {
        created = created.compose(done -> create(parent(path(change.key()))));
      }
    }
    return created;
  }
}
