package dev.mcpbridge.bus;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Asks, answers and tells over the event bus. Handlers run on the context that registered them, and
 * are gone with the verticle they were registered in; a failure arrives as the BridgeException that
 * was thrown.
 */
public final class Bus {
  private static final DeliveryOptions NEWS =
      new DeliveryOptions().setLocalOnly(true).setCodecName(Parcel.CODEC.name());

  private final EventBus events;

  private Bus(EventBus events) {
    this.events = events;
  }

  /** The bus of a Vert.x instance; called once for each, before the first verticle. */
  public static Bus create(Vertx vertx) {
    EventBus events = vertx.eventBus();
    events.registerDefaultCodec(Parcel.class, Parcel.CODEC);
    return new Bus(events);
  }

  /**
   * Asks and waits for the answer.
   *
   * @param timeoutMillis how long; then DEADLINE_EXCEEDED with {@code executed: unknown}
   */
  public <Q, A> Future<A> request(Address<Q, A> address, Q question, long timeoutMillis) {
    DeliveryOptions options =
        new DeliveryOptions()
            .setLocalOnly(true)
            .setCodecName(Parcel.CODEC.name())
            .setSendTimeout(Math.max(1, timeoutMillis));
    return events
        .<Parcel>request(address.name(), new Parcel(question), options)
        .transform(
            reply ->
                reply.succeeded()
                    ? Bus.<A>open(reply.result())
                    : Future.failedFuture(undelivered(address, reply.cause())));
  }

  /** Answers questions; the future's failure is the answer's failure. */
  public <Q, A> void serve(Address<Q, A> address, Function<Q, Future<A>> answer) {
    events.<Parcel>localConsumer(address.name(), message -> reply(message, answer));
  }

  public <T> void publish(Topic<T> topic, T news) {
    events.publish(topic.name(), new Parcel(news), NEWS);
  }

  /** Hears news until the returned runnable is run. */
  public <T> Runnable subscribe(Topic<T> topic, Consumer<T> hear) {
    MessageConsumer<Parcel> consumer =
        events.localConsumer(topic.name(), message -> hear.accept(content(message)));
    return consumer::unregister;
  }

  private static <Q, A> void reply(Message<Parcel> message, Function<Q, Future<A>> answer) {
    Future<A> outcome;
    try {
      outcome = answer.apply(content(message));
    } catch (RuntimeException e) {
      outcome = Future.failedFuture(e);
    }
    outcome.onComplete(
        answered -> message.reply(new Parcel(answered)),
        failed -> message.reply(new Parcel(failure(failed))));
  }

  private static BridgeException failure(Throwable cause) {
    return cause instanceof BridgeException known
        ? known
        : new BridgeException(ErrorCode.INTERNAL, "Internal error", cause)
            .withExecuted(Executed.UNKNOWN);
  }

  private static <A> Future<A> open(Message<Parcel> reply) {
    Object content = reply.body().content();
    return content instanceof BridgeException failure
        ? Future.failedFuture(failure)
        : Future.succeededFuture(content(reply));
  }

  @SuppressWarnings("unchecked") // addresses and topics are typed; the bus carries what they say
  private static <T> T content(Message<Parcel> message) {
    return (T) message.body().content();
  }

  private static BridgeException undelivered(Address<?, ?> address, Throwable cause) {
    if (cause instanceof ReplyException reply
        && reply.failureType() == ReplyFailure.NO_HANDLERS) {
      return new BridgeException(ErrorCode.SERVER_UNAVAILABLE, "Nobody answers at " + address.name())
          .withRetryAfter(1000);
    }
    return new BridgeException(ErrorCode.DEADLINE_EXCEEDED, "No answer from " + address.name())
        .withExecuted(Executed.UNKNOWN);
  }
}
