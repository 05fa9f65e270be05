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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  private void put(String key, byte[] data, Stat stat, long ageMillis) {
    Node node = node(key, data, stat, ageMillis);
    if (node == null) {
      return;
    }
    if (isLoaded) {
      copy.put(key, node);
    } else {
      loading.put(key, node);
    }
  }

  private String key(String path) {
    String prefix = options.root() + DATA + "/";
    return path != null && path.startsWith(prefix) ? path.substring(prefix.length()) : null;
  }

  private String path(String key) {
    return options.root() + DATA + "/" + key;
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
    if (embedded == null) {
      return Future.succeededFuture();
    }
    Promise<Void> promise = Promise.promise();
    client.setACL(
        path, access, -1, (code, p, ctx, stat) -> on(() -> complete(promise, code)), null);
    return promise.future();
  }

  private Future<Void> create(String path) {
    if (path.isEmpty()) {
      return Future.succeededFuture();
    }
    Promise<Void> promise = Promise.promise();
    client.create(
        path,
        NOTHING,
        access,
        CreateMode.PERSISTENT,
        (code, p, ctx, name) ->
            on(
                () -> {
                  if (code == Code.NONODE.intValue()) {
                    create(path.substring(0, path.lastIndexOf('/')))
                        .compose(parent -> create(path))
                        .onComplete(promise);
                  } else if (code == Code.OK.intValue() || code == Code.NODEEXISTS.intValue()) {
                    promise.tryComplete();
                  } else {
                    promise.tryFail(failure(code));
                  }
                }),
        null);
    return promise.future();
  }

  private Future<Void> addWatch() {
    Promise<Void> promise = Promise.promise();
    client.addWatch(
        options.root() + DATA,
        this::onEvent,
        AddWatchMode.PERSISTENT_RECURSIVE,
        (code, p, ctx) -> on(() -> complete(promise, code)),
        null);
    return promise.future();
  }

  private static void complete(Promise<Void> promise, int code) {
    if (code == Code.OK.intValue()) {
      promise.tryComplete();
    } else {
      promise.tryFail(failure(code));
    }
  }

  private static KeeperException failure(int code) {
    return KeeperException.create(Code.get(code));
  }

  /** Reads everything below a path; entries that change meanwhile are read again. */
  private Future<Void> load(String path) {
    Promise<Void> promise = Promise.promise();
    client.getChildren(
        path,
        false,
        (code, p, ctx, names) ->
            on(
                () -> {
                  if (code == Code.NONODE.intValue()) {
                    promise.tryComplete();
                  } else if (code != Code.OK.intValue()) {
                    promise.tryFail(failure(code));
                  } else {
                    List<Future<Void>> reads = new ArrayList<>();
                    for (String name : names) {
                      reads.add(loadNode(path + "/" + name));
                    }
                    Future.all(reads).<Void>mapEmpty().onComplete(promise);
                  }
                }),
        null);
    return promise.future();
  }

  private Future<Void> loadNode(String path) {
    Promise<Void> promise = Promise.promise();
    client.getData(
        path,
        false,
        (code, p, ctx, data, stat) ->
            on(
                () -> {
                  if (code == Code.NONODE.intValue()) {
                    promise.tryComplete();
                  } else if (code != Code.OK.intValue()) {
                    promise.tryFail(failure(code));
                  } else if (stat.getNumChildren() > 0 || data.length == 0) {
                    load(path).onComplete(promise);
                  } else {
                    put(key(path), data, stat, Math.max(0, storeMillis - stat.getMtime()));
                    promise.tryComplete();
                  }
                }),
        null);
    return promise.future();
  }

  private void read(String key) {
    client.getData(
        path(key),
        false,
        (code, p, ctx, data, stat) ->
            on(
                () -> {
                  if (code == Code.OK.intValue() && data.length > 0) {
                    put(key, data, stat, 0);
                  }
                }),
        null);
  }

  private Node node(String key, byte[] sealed, Stat stat, long ageMillis) {
    try {
      byte[] value = options.seal().open(bytes(key), sealed);
      return new Node(new Entry(value, stat.getMzxid(), ageMillis), stat.getVersion());
    } catch (GeneralSecurityException e) {
      LOG.log(Level.ERROR, "an entry of the store was written with another cluster.secret");
      return null;
    }
  }

  // --- requests

  Future<Void> fence() {
    Promise<Void> promise = Promise.promise();
    client.setData(
        options.root() + CLOCK,
        NOTHING,
        -1,
        (code, p, ctx, stat) ->
            on(
                () -> {
                  if (code == Code.OK.intValue()) {
                    storeMillis = stat.getMtime();
                    flush(promise);
                  } else {
                    lost(promise, code);
                  }
                }),
        null);
    return promise.future();
  }

  /** What was read because of earlier changes has arrived when this request is answered. */
  private void flush(Promise<Void> promise) {
    client.exists(
        options.root() + CLOCK,
        false,
        (code, p, ctx, stat) ->
            on(
                () -> {
                  if (code == Code.OK.intValue()) {
                    promise.tryComplete();
                  } else {
                    lost(promise, code);
                  }
                }),
        null);
  }

  private void lost(Promise<?> promise, int code) {
    end("request failed with code " + code);
    promise.tryFail(failure(code));
  }

  /**
   * Changes the voters.
   *
   * @param joining a server, in ZooKeeper's notation; null for none
   * @param leaving number of a server; null for none
   */
  Future<Void> changeVoters(String joining, String leaving) {
    Promise<Void> promise = Promise.promise();
    client.reconfigure(
        joining,
        leaving,
        null,
        -1,
        (code, path, ctx, data, stat) ->
            on(
                () -> {
                  if (code == Code.OK.intValue()) {
                    promise.tryComplete();
                  } else {
                    promise.tryFail(refused(code));
                  }
                }),
        null);
    return promise.future();
  }

  private static BridgeException refused(int code) {
    return new BridgeException(
        ErrorCode.VOTERS_UNCHANGED,
        "The coordination store did not change its voters ("
            + Code.get(code)
            + "): a majority of the new voters must be connected and up to date");
  }

  /** As {@link Engine#commit}; fails if the outcome is unknown. */
  Future<Long> commit(List<Change> changes) {
    Promise<Long> promise = Promise.promise();
    if (changes.size() == 1) {
      commitOne(changes, promise);
      return promise.future();
    }
    List<Op> ops = changes.stream().map(this::op).toList();
    client.multi(
        ops,
        (code, path, ctx, results) ->
            on(() -> committed(changes, code, code == 0 ? version(results) : 0, promise)),
        null);
    return promise.future();
  }

  private void commitOne(List<Change> changes, Promise<Long> promise) {
    Change change = changes.get(0);
    String path = path(change.key());
    if (change.expected() == Engine.ABSENT) {
      client.create(
          path,
          sealed(change),
          access,
          CreateMode.PERSISTENT,
          (code, p, ctx, name, stat) -> on(() -> committed(changes, code, stat, promise)),
          null);
    } else if (change.value() == null) {
      client.delete(
          path,
          copy.dataVersion(change.key()),
          (code, p, ctx) -> on(() -> committed(changes, code, Engine.ABSENT, promise)),
          null);
    } else {
      client.setData(
          path,
          sealed(change),
          copy.dataVersion(change.key()),
          (code, p, ctx, stat) -> on(() -> committed(changes, code, stat, promise)),
          null);
    }
  }

  /** All changes of a transaction have the same version. */
  private static long version(List<OpResult> results) {
    return results.stream()
        .filter(OpResult.SetDataResult.class::isInstance)
        .mapToLong(result -> ((OpResult.SetDataResult) result).getStat().getMzxid())
        .findFirst()
        .orElse(Engine.ABSENT);
  }

  private void committed(List<Change> changes, int code, Stat stat, Promise<Long> promise) {
    committed(changes, code, stat == null ? Engine.ABSENT : stat.getMzxid(), promise);
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

  private void committed(List<Change> changes, int code, long version, Promise<Long> promise) {
    if (code == Code.OK.intValue()) {
      Promise<Void> copied = Promise.promise();
      flush(copied);
      copied.future().onComplete(done -> promise.tryComplete(version));
    } else if (code == Code.BADVERSION.intValue() || code == Code.NODEEXISTS.intValue()) {
      promise.tryComplete(Engine.CONFLICT);
    } else if (code == Code.NONODE.intValue()) {
      boolean isParentMissing =
          changes.stream().anyMatch(change -> change.expected() == Engine.ABSENT);
      if (isParentMissing) {
        createParents(changes)
            .compose(created -> commit(changes))
            .onComplete(promise::tryComplete, promise::tryFail);
      } else {
        promise.tryComplete(Engine.CONFLICT);
      }
    } else {
      lost(promise, code);
    }
  }

  private Future<Void> createParents(List<Change> changes) {
    Future<Void> created = Future.succeededFuture();
    for (Change change : changes) {
      String path = path(change.key());
      if (change.expected() == Engine.ABSENT) {
        created = created.compose(done -> create(path.substring(0, path.lastIndexOf('/'))));
      }
    }
    return created;
  }
}
