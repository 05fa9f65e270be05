package dev.mcpbridge.cluster.engine;

import dev.mcpbridge.cluster.trust.Seal;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The store on ZooKeeper: sends changes over the current session and keeps the copy. A session that
 * loses its server is replaced at once instead of repaired, since ZooKeeper's client waits up to a
 * second before it connects again. Values are encrypted. Confined to the context that opened it.
 */
public final class ZooKeeperEngine implements Engine {
  private static final long TIMEOUT_MILLIS = 5_000;

  /** From one look at the session to the next: a new one is wanted soon, a good one seldom ends. */
  private static final long CONNECTING_MILLIS = 20;

  private static final long CONNECTED_MILLIS = 100;

  private final Vertx vertx;
  private final Options options;
  private final Copy copy;
  private Context context;
  private EmbeddedServer embedded;
  private Session session;
  private Promise<Void> nextSession = Promise.promise();
  private long timer;
  private long connectNanos;
  private boolean isClosed;

  /**
   * How to reach the store.
   *
   * @param connect addresses of servers that the operator runs; null for an embedded server
   * @param root path below which everything is stored
   * @param password of the bridge's user
   * @param timeoutMillis after which a session without a server ends
   */
  public record Options(
      String connect, String root, String password, Seal seal, int timeoutMillis) {}

  public ZooKeeperEngine(Vertx vertx, Options options) {
    this.vertx = vertx;
    this.options = options;
    this.copy = new Copy();
  }

  @Override
  public void open(Listener listener) {
    context = vertx.getOrCreateContext();
    copy.listen(listener);
    watch();
  }

  /** The embedded server has been started. */
  public void serverStarted(EmbeddedServer server) {
    embedded = server;
  }

  /** Connects as soon as the server can serve. */
  private void watch() {
    if (isClosed) {
      return;
    }
    timer = vertx.setTimer(isReady() ? CONNECTED_MILLIS : CONNECTING_MILLIS, t -> watch());
    boolean canServe = embedded == null ? options.connect() != null : embedded.isServing();
    if (session != null && (session.isOver() || !canServe)) {
      session.close();
      session = null;
    }
    if (session == null && canServe && System.nanoTime() - connectNanos > 50_000_000L) {
      connectNanos = System.nanoTime();
      session = new Session(options, embedded, context, copy);
      session
          .ready()
          .onSuccess(
              ready -> {
                Promise<Void> waiting = nextSession;
                nextSession = Promise.promise();
                waiting.complete();
              });
    }
  }

  private boolean isReady() {
    return session != null && session.isReady();
  }

  @Override
  public Future<Long> commit(List<Change> changes) {
    Promise<Long> promise = Promise.promise();
    Attempt attempt = new Attempt(changes, promise);
    long limit = vertx.setTimer(TIMEOUT_MILLIS, t -> promise.tryFail(noQuorum()));
    promise.future().onComplete(done -> vertx.cancelTimer(limit));
    attempt.send();
    return promise.future();
  }

  static BridgeException noQuorum() {
    return new BridgeException(ErrorCode.NO_QUORUM, "A majority of the nodes did not agree in time")
        .withRetryAfter(2_000);
  }

  /** A commit, sent again after a lost session if the copy shows that it was not applied. */
  private final class Attempt {
    private final List<Change> changes;
    private final Promise<Long> promise;
    private boolean isUnknown;

    Attempt(List<Change> changes, Promise<Long> promise) {
      this.changes = changes;
      this.promise = promise;
    }

    void send() {
      if (promise.future().isComplete()) {
        return;
      }
      if (!isReady()) {
        nextSession.future().onComplete(ready -> send());
        return;
      }
      if (isUnknown) {
        fence().onComplete(current -> check(), lost -> send());
        return;
      }
      if (!copy.hasVersions(changes)) {
        fence()
            .onComplete(
                current -> {
                  if (copy.hasVersions(changes)) {
                    transmit();
                  } else {
                    promise.tryComplete(CONFLICT);
                  }
                },
                lost -> send());
        return;
      }
      transmit();
    }

    private void transmit() {
      if (!isReady()) {
        send();
        return;
      }
      session
          .commit(changes)
          .onComplete(
              promise::tryComplete,
              lost -> {
                isUnknown = true;
                send();
              });
    }

    /** After a fence the copy shows whether the change was applied, as its values are unique. */
    private void check() {
      if (changes.stream().allMatch(this::isApplied)) {
        promise.tryComplete(changes.stream().mapToLong(this::version).max().orElse(ABSENT));
      } else if (copy.hasVersions(changes)) {
        isUnknown = false;
        transmit();
      } else {
        promise.tryFail(noQuorum());
      }
    }

    private long version(Change change) {
      Entry now = copy.get(change.key());
      return now == null ? ABSENT : now.version();
    }

    private boolean isApplied(Change change) {
      Entry now = copy.get(change.key());
      return change.value() == null
          ? now == null
          : now != null
              && now.version() != change.expected()
              && Arrays.equals(now.value(), change.value());
    }
  }

  @Override
  public Future<Void> fence() {
    Promise<Void> promise = Promise.promise();
    long limit = vertx.setTimer(TIMEOUT_MILLIS, t -> promise.tryFail(noQuorum()));
    promise.future().onComplete(done -> vertx.cancelTimer(limit));
    fence(promise);
    return promise.future();
  }

  private void fence(Promise<Void> promise) {
    if (promise.future().isComplete()) {
      return;
    }
    if (isReady()) {
      session.fence().onComplete(done -> promise.tryComplete(), lost -> fence(promise));
    } else {
      nextSession.future().onComplete(ready -> fence(promise));
    }
  }

  @Override
  public Entry get(String key) {
    return copy.get(key);
  }

  @Override
  public Map<String, Entry> children(String prefix) {
    return copy.children(prefix);
  }

  @Override
  public Health health() {
    return embedded == null
        ? new Health(isReady(), -1, 0)
        : new Health(isReady(), embedded.leader(), embedded.term());
  }

  @Override
  public Map<Integer, String> voters() {
    return embedded == null ? Map.of() : embedded.voters();
  }

  @Override
  public Future<Void> becomeVoter(int number, String server) {
    return isReady()
        ? session.changeVoters(
            "server." + number + "=" + server + ":participant;127.0.0.1:" + embedded.clientPort(),
            null)
        : Future.failedFuture(noQuorum());
  }

  @Override
  public Future<Void> removeVoter(int number) {
    return isReady()
        ? session.changeVoters(null, Integer.toString(number))
        : Future.failedFuture(noQuorum());
  }

  @Override
  public void close() {
    isClosed = true;
    vertx.cancelTimer(timer);
    if (session != null) {
      session.close();
      session = null;
    }
  }
}
