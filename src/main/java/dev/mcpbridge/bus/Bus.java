package dev.mcpbridge.bus;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.trace.Telemetry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Requests, replies and publications over the event bus, and over the links between nodes if the
 * handler runs on another node. Handlers run on the context that registered them and are
 * unregistered with their verticle. A failure arrives as the BridgeException that was thrown.
 */
public final class Bus {
  private static final DeliveryOptions LOCAL =
      new DeliveryOptions().setLocalOnly(true).setCodecName(LocalMessage.CODEC.name());

  private final Vertx vertx;
  private final EventBus events;
  private final EventLoop loop;
  private final boolean isAlone;
  private final RemoteRouter remoteRouter;
  private final Telemetry telemetry;
  private final Map<String, PendingReplies> pendingReplies = new ConcurrentHashMap<>();

  private final Map<String, Function<?, ?>> direct = new ConcurrentHashMap<>();

  /** The reply callbacks of requests that a handler has not received yet. */
  private static final class PendingReplies {
    final Set<Consumer<Object>> callbacks = ConcurrentHashMap.newKeySet();
  }

  private Bus(Vertx vertx, EventLoop loop, Cluster cluster, Telemetry telemetry) {
    this.vertx = vertx;
    this.events = vertx.eventBus();
    this.loop = loop;
    this.isAlone = cluster.isAlone();
    this.telemetry = telemetry;
    this.remoteRouter = new RemoteRouter(this, cluster, telemetry.counts());
  }

  /**
   * The bus of a Vert.x instance; called before the first verticle.
   *
   * @throws IllegalStateException if a Vert.x has one already: its addresses are those of one
   *     bridge
   */
  public static Bus create(Vertx vertx, EventLoop loop, Cluster cluster, Telemetry telemetry) {
    try {
      vertx.eventBus().registerCodec(LocalMessage.CODEC);
    } catch (IllegalStateException e) {
      throw new IllegalStateException("A bridge runs on this Vert.x already", e);
    }
    Bus bus = new Bus(vertx, loop, cluster, telemetry);
    if (!bus.isAlone) {
      bus.remoteRouter.open();
    }
    return bus;
  }

  /** Leaves the Vert.x to another bus. */
  public Future<Void> close() {
    events.unregisterCodec(LocalMessage.CODEC.name());
    return Future.succeededFuture();
  }

  /** The event loop that the verticles share. */
  public EventLoop loop() {
    return loop;
  }

  /** Where the verticles of this node report what they do. */
  public Telemetry telemetry() {
    return telemetry;
  }

  /**
   * Sends a request. The future completes on the caller's context. There is no timer: a handler
   * replies to every request within the deadline that the request carries.
   */
  public <Q, A> Future<A> request(Address<Q, A> address, Q question) {
    if (isAlone || address.addressScope() == AddressScope.LOCAL) {
      return requestLocally(address, question);
    }
    Context caller = vertx.getOrCreateContext();
    Promise<A> promise = Promise.promise();
    loop.run(
        () ->
            remoteRouter
                .request(address, question)
                .onComplete(
                    answer -> caller.runOnContext(v -> promise.complete(answer)),
                    failure -> caller.runOnContext(v -> promise.fail(failure))));
    return promise.future();
  }

  /** Whether a handler of this node is registered. */
  public boolean isServed(Address<?, ?> address) {
    return pendingReplies.containsKey(address.name()) || direct.containsKey(address.name());
  }

  /** Sends what no answer is awaited for, if a handler of this node is registered. */
  public <Q> void offer(Address<Q, ?> address, Supplier<Q> message) {
    if (isServed(address)) {
      request(address, message.get());
    }
  }

  /** Runs a task on the event loop after some time. */
  public void later(long millis, Runnable task) {
    vertx.setTimer(millis, t -> task.run());
  }

  <Q, A> Future<A> requestLocally(Address<Q, A> address, Q question) {
    Function<Q, Future<A>> handler = cast(direct.get(address.name()));
    if (handler != null) {
      return handler.apply(question);
    }
    Context caller = vertx.getOrCreateContext();
    Promise<A> promise = Promise.promise();
    LocalMessage localMessage =
        new LocalMessage(question, answer -> caller.runOnContext(v -> settle(promise, answer)));
    PendingReplies pending = pendingReplies.get(address.name());
    if (pending == null) {
      return Future.failedFuture(undelivered(address));
    }
    pending.callbacks.add(localMessage.reply());
    events
        .<LocalMessage>sender(address.name(), LOCAL)
        .write(localMessage)
        .onFailure(
            lost -> {
              pending.callbacks.remove(localMessage.reply());
              promise.tryFail(undelivered(address));
            });
    return promise.future();
  }

  /**
   * Registers a handler until the returned runnable is run. A failed future is sent to the caller
   * as its failure. Requests that are still queued after that fail as not delivered.
   */
  public <Q, A> Runnable serve(Address<Q, A> address, Function<Q, Future<A>> handler) {
    PendingReplies pending = new PendingReplies();
    pendingReplies.put(address.name(), pending);
    MessageConsumer<LocalMessage> consumer =
        events.localConsumer(
            address.name(),
            message -> {
              pending.callbacks.remove(message.body().reply());
              reply(message.body(), handler);
            });
    consumer.endHandler(
        over -> {
          pendingReplies.remove(address.name(), pending);
          pending.callbacks.forEach(callback -> callback.accept(undelivered(address)));
        });
    if (!isAlone) {
      loop.run(() -> remoteRouter.serve(address));
    }
    return () -> {
      if (!isAlone) {
        loop.run(() -> remoteRouter.unregister(address));
      }
      consumer.unregister();
    };
  }

  /** Registers a thread-safe handler that is called on the threads of the senders. */
  public <Q, A> Runnable serveDirectly(Address<Q, A> address, Function<Q, Future<A>> handler) {
    direct.put(address.name(), handler);
    return () -> direct.remove(address.name());
  }

  public <T> void publish(Topic<T> topic, T message) {
    if (isAlone) {
      publishLocally(topic, message);
    } else {
      loop.run(() -> remoteRouter.publish(topic, message));
    }
  }

  /** Publishes on this node only. */
  public <T> void publishLocally(Topic<T> topic, T message) {
    events.publish(topic.name(), new LocalMessage(message, null), LOCAL);
  }

  /** Subscribes until the returned runnable is run. */
  public <T> Runnable subscribe(Topic<T> topic, Consumer<T> listener) {
    MessageConsumer<LocalMessage> consumer =
        events.localConsumer(
            topic.name(), message -> listener.accept(cast(message.body().content())));
    if (!isAlone) {
      loop.run(() -> remoteRouter.subscribe(topic));
    }
    return () -> {
      if (!isAlone) {
        loop.run(() -> remoteRouter.unsubscribe(topic));
      }
      consumer.unregister();
    };
  }

  private static <Q, A> void reply(LocalMessage localMessage, Function<Q, Future<A>> handler) {
    Future<A> outcome;
    try {
      outcome = handler.apply(cast(localMessage.content()));
    } catch (RuntimeException e) {
      outcome = Future.failedFuture(e);
    }
    outcome.onComplete(
        response -> localMessage.reply().accept(response),
        failure -> localMessage.reply().accept(BridgeException.of(failure)));
  }

  private static <A> void settle(Promise<A> promise, Object answer) {
    if (answer instanceof BridgeException failure) {
      promise.tryFail(failure);
    } else {
      promise.tryComplete(cast(answer));
    }
  }

  /** NOT_OWNER, since the owner of a server may not serve it yet or may no longer serve it. */
  private BridgeException undelivered(Address<?, ?> address) {
    boolean mayMove = !isAlone && address.addressScope().instanceId() != null;
    return new BridgeException(
            mayMove ? ErrorCode.NOT_OWNER : ErrorCode.SERVER_UNAVAILABLE,
            "No handler is registered for " + address.name())
        .withRetryAfter(1000);
  }

  @SuppressWarnings("unchecked") // addresses and topics declare the message type
  private static <T> T cast(Object content) {
    return (T) content;
  }
}
