package dev.mcpbridge.bus;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Asks, answers and tells over the event bus. Handlers run on the context that registered them, and
 * are gone with the verticle they were registered in; a failure arrives as the BridgeException that
 * was thrown.
 */
public final class Bus {
  private static final DeliveryOptions LOCAL =
      new DeliveryOptions().setLocalOnly(true).setCodecName(Parcel.CODEC.name());

  private final Vertx vertx;
  private final EventBus events;

  private Bus(Vertx vertx) {
    this.vertx = vertx;
    this.events = vertx.eventBus();
  }

  /** The bus of a Vert.x instance; called once for each, before the first verticle. */
  public static Bus create(Vertx vertx) {
    vertx.eventBus().registerDefaultCodec(Parcel.class, Parcel.CODEC);
    return new Bus(vertx);
  }

  /**
   * Asks and waits for the answer, which arrives on the asker's context. There is no timer behind
   * it: whoever serves an address answers every question within the deadline that it carries.
   */
  public <Q, A> Future<A> request(Address<Q, A> address, Q question) {
    Context asker = vertx.getOrCreateContext();
    Promise<A> promise = Promise.promise();
    Parcel parcel =
        new Parcel(question, answer -> asker.runOnContext(v -> settle(promise, answer)));
    events
        .<Parcel>sender(address.name(), LOCAL)
        .write(parcel)
        .onFailure(lost -> promise.tryFail(undelivered(address)));
    return promise.future();
  }

  /**
   * Answers questions until the returned runnable is run; the future's failure is the answer's
   * failure.
   */
  public <Q, A> Runnable serve(Address<Q, A> address, Function<Q, Future<A>> answer) {
    MessageConsumer<Parcel> consumer =
        events.localConsumer(address.name(), message -> reply(message.body(), answer));
    return consumer::unregister;
  }

  public <T> void publish(Topic<T> topic, T news) {
    events.publish(topic.name(), new Parcel(news, null), LOCAL);
  }

  /** Hears news until the returned runnable is run. */
  public <T> Runnable subscribe(Topic<T> topic, Consumer<T> hear) {
    MessageConsumer<Parcel> consumer =
        events.localConsumer(topic.name(), message -> hear.accept(cast(message.body().content())));
    return consumer::unregister;
  }

  private static <Q, A> void reply(Parcel parcel, Function<Q, Future<A>> answer) {
    Future<A> outcome;
    try {
      outcome = answer.apply(cast(parcel.content()));
    } catch (RuntimeException e) {
      outcome = Future.failedFuture(e);
    }
    outcome.onComplete(
        answered -> parcel.reply().accept(answered),
        failed -> parcel.reply().accept(failure(failed)));
  }

  private static <A> void settle(Promise<A> promise, Object answer) {
    if (answer instanceof BridgeException failure) {
      promise.tryFail(failure);
    } else {
      promise.tryComplete(cast(answer));
    }
  }

  private static BridgeException failure(Throwable cause) {
    return cause instanceof BridgeException known
        ? known
        : new BridgeException(ErrorCode.INTERNAL, "Internal error", cause)
            .withExecuted(Executed.UNKNOWN);
  }

  private static BridgeException undelivered(Address<?, ?> address) {
    return new BridgeException(ErrorCode.SERVER_UNAVAILABLE, "Nobody answers at " + address.name())
        .withRetryAfter(1000);
  }

  @SuppressWarnings("unchecked") // addresses and topics are typed; the bus carries what they say
  private static <T> T cast(Object content) {
    return (T) content;
  }
}
