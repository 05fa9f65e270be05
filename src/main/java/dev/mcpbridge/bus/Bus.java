package dev.mcpbridge.bus;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.metrics.Counts;
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

/**
 * Asks, answers and tells over the event bus, and over the connections between nodes where the
 * answer is elsewhere. Handlers run on the context that registered them, and are gone with the
 * verticle they were registered in; a failure arrives as the BridgeException that was thrown.
 */
public final class Bus {
  private static final DeliveryOptions LOCAL =
      new DeliveryOptions().setLocalOnly(true).setCodecName(LocalMessage.CODEC.name());

  private final Vertx vertx;
  private final EventBus events;
  private final boolean isAlone;
  private final RemoteRouter remoteRouter;
  private final Map<String, Arriving> arriving = new ConcurrentHashMap<>();

  /** Who waits for answers to what is on its way to one who serves an address. */
  private static final class Arriving {
    final Set<Consumer<Object>> askers = ConcurrentHashMap.newKeySet();
  }

  private Bus(Vertx vertx, Cluster cluster, Counts counts) {
    this.vertx = vertx;
    this.events = vertx.eventBus();
    this.isAlone = cluster.isAlone();
    this.remoteRouter = new RemoteRouter(this, cluster, counts);
  }

  /** The bus of a Vert.x instance; called once for each, before the first verticle. */
  public static Bus create(Vertx vertx, Cluster cluster, Counts counts) {
    vertx.eventBus().registerDefaultCodec(LocalMessage.class, LocalMessage.CODEC);
    Bus bus = new Bus(vertx, cluster, counts);
    if (!bus.isAlone) {
      bus.remoteRouter.open();
    }
    return bus;
  }

  /**
   * Asks and waits for the answer, which arrives on the asker's context. There is no timer behind
   * it: whoever serves an address answers every question within the deadline that it carries.
   */
  public <Q, A> Future<A> request(Address<Q, A> address, Q question) {
    if (isAlone || address.addressScope() == AddressScope.HERE) {
      return requestHere(address, question);
    }
    Context asker = vertx.getOrCreateContext();
    Promise<A> promise = Promise.promise();
    remoteRouter
        .request(address, question)
        .onComplete(
            answer -> asker.runOnContext(v -> promise.complete(answer)),
            failure -> asker.runOnContext(v -> promise.fail(failure)));
    return promise.future();
  }

  <Q, A> Future<A> requestHere(Address<Q, A> address, Q question) {
    Context asker = vertx.getOrCreateContext();
    Promise<A> promise = Promise.promise();
    LocalMessage localMessage =
        new LocalMessage(question, answer -> asker.runOnContext(v -> settle(promise, answer)));
    Arriving there = arriving.get(address.name());
    if (there == null) {
      return Future.failedFuture(undelivered(address));
    }
    there.askers.add(localMessage.reply());
    events
        .<LocalMessage>sender(address.name(), LOCAL)
        .write(localMessage)
        .onFailure(
            lost -> {
              there.askers.remove(localMessage.reply());
              promise.tryFail(undelivered(address));
            });
    return promise.future();
  }

  /**
   * Answers questions until the returned runnable is run; the future's failure is the answer's
   * failure. What is on its way here then, and is not looked at any more, fails as not delivered.
   */
  public <Q, A> Runnable serve(Address<Q, A> address, Function<Q, Future<A>> answer) {
    Arriving here = new Arriving();
    arriving.put(address.name(), here);
    MessageConsumer<LocalMessage> consumer =
        events.localConsumer(
            address.name(),
            message -> {
              here.askers.remove(message.body().reply());
              reply(message.body(), answer);
            });
    consumer.endHandler(
        over -> {
          arriving.remove(address.name(), here);
          here.askers.forEach(asker -> asker.accept(undelivered(address)));
        });
    Runnable deaf = remoteRouter.serve(address);
    return () -> {
      deaf.run();
      consumer.unregister();
    };
  }

  public <T> void publish(Topic<T> topic, T news) {
    if (isAlone || remoteRouter.isForHere(topic)) {
      publishHere(topic, news);
    }
    if (!isAlone) {
      remoteRouter.publish(topic, news);
    }
  }

  /** Tells only this node. */
  public <T> void publishHere(Topic<T> topic, T news) {
    events.publish(topic.name(), new LocalMessage(news, null), LOCAL);
  }

  /** Hears news until the returned runnable is run. */
  public <T> Runnable subscribe(Topic<T> topic, Consumer<T> hear) {
    MessageConsumer<LocalMessage> consumer =
        events.localConsumer(topic.name(), message -> hear.accept(cast(message.body().content())));
    Runnable deaf = remoteRouter.subscribe(topic);
    return () -> {
      deaf.run();
      consumer.unregister();
    };
  }

  private static <Q, A> void reply(LocalMessage localMessage, Function<Q, Future<A>> answer) {
    Future<A> outcome;
    try {
      outcome = answer.apply(cast(localMessage.content()));
    } catch (RuntimeException e) {
      outcome = Future.failedFuture(e);
    }
    outcome.onComplete(
        answered -> localMessage.reply().accept(answered),
        failed -> localMessage.reply().accept(BridgeException.of(failed)));
  }

  private static <A> void settle(Promise<A> promise, Object answer) {
    if (answer instanceof BridgeException failure) {
      promise.tryFail(failure);
    } else {
      promise.tryComplete(cast(answer));
    }
  }

  /** Who has a server may not answer for it yet, or not any more. */
  private BridgeException undelivered(Address<?, ?> address) {
    boolean mayMove = !isAlone && address.addressScope().instanceId() != null;
    return new BridgeException(
            mayMove ? ErrorCode.NOT_OWNER : ErrorCode.SERVER_UNAVAILABLE,
            "Nobody answers at " + address.name())
        .withRetryAfter(1000);
  }

  @SuppressWarnings("unchecked") // addresses and topics are typed; the bus carries what they say
  private static <T> T cast(Object content) {
    return (T) content;
  }
}
