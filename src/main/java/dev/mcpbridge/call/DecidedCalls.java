package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ConfirmationQuery;
import dev.mcpbridge.bus.Addresses.ConfirmationState;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.Arguments;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Calls that waited for a human's decision. Where somebody else than the caller approves, the
 * outcome is kept for the caller as that of a background call, under the confirmation's id; the
 * caller may look it up, or wait for it. Confined to its verticle.
 */
public final class DecidedCalls {
  private static final long LOOK_MILLIS = 250;

  private final Vertx vertx;
  private final Bus bus;
  private final CallPipeline pipeline;
  private final BackgroundCalls background;

  /**
   * What has become of a call.
   *
   * @param call that was approved, for its caller only; empty where its outcome is not kept
   */
  public record DecidedCall(
      ConfirmationState confirmationState, Optional<BackgroundCalls.BackgroundCall> call) {

    /** Whether nothing more will become of it. */
    public boolean isOver() {
      return switch (confirmationState.status()) {
        case PENDING -> false;
        case REJECTED, EXPIRED -> true;
        case APPROVED ->
            call.map(kept -> kept.outcome().isComplete())
                .orElse(confirmationState.executed() != Executed.UNKNOWN);
      };
    }

    /** The outcome of the call; {@code undecided} while there is none. */
    public Future<CallOutcome> outcome(CallOutcome undecided) {
      String id = confirmationState.confirmation().id();
      return switch (confirmationState.status()) {
        case PENDING -> Future.succeededFuture(undecided);
        case REJECTED ->
            Future.failedFuture(
                new BridgeException(ErrorCode.FORBIDDEN, "The call was rejected by a human"));
        case EXPIRED ->
            Future.failedFuture(
                new BridgeException(
                    ErrorCode.CONFIRMATION_EXPIRED, "Confirmation '" + id + "' has expired"));
        case APPROVED -> call.isPresent() ? approved(call.get(), undecided) : notKept(id);
      };
    }

    private static Future<CallOutcome> approved(
        BackgroundCalls.BackgroundCall call, CallOutcome undecided) {
      return call.outcome().isComplete() ? call.outcome() : Future.succeededFuture(undecided);
    }

    private Future<CallOutcome> notKept(String id) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.OUTCOME_NOT_KEPT,
                  "The outcome of confirmation '" + id + "' is not kept")
              .withExecuted(confirmationState.executed()));
    }
  }

  public DecidedCalls(Vertx vertx, Bus bus, CallPipeline pipeline, BackgroundCalls background) {
    this.vertx = vertx;
    this.bus = bus;
    this.pipeline = pipeline;
    this.background = background;
  }

  /**
   * Runs an approved call, at once. Where there is no room to keep its outcome it runs all the
   * same, since nobody can approve it again.
   *
   * @param streaming whether the one who approved wants to hear of progress
   */
  public Future<CallOutcome> run(Confirmation approved, Viewer by, boolean streaming) {
    Supplier<Future<CallOutcome>> run = () -> pipeline.runApproved(approved, streaming);
    return isOwn(approved, by)
        ? run.get()
        : background
            .add(request(approved), run)
            .map(BackgroundCalls.BackgroundCall::outcome)
            .otherwise(noRoom -> run.get())
            .compose(outcome -> outcome);
  }

  /** Whether somebody decides about a call of their own. */
  public static boolean isOwn(Confirmation confirmation, Viewer by) {
    return by.name().equals(confirmation.call().caller().name());
  }

  private static CallRequest request(Confirmation approved) {
    Call call = approved.call();
    return new CallRequest(
        call.id(), call.server(), call.target(), Arguments.NONE, call.caller(), false);
  }

  /** What has become of one; fails with CONFIRMATION_NOT_FOUND. */
  public Future<DecidedCall> look(String confirmationId, Viewer by) {
    return bus.request(Addresses.CONFIRMATION, new ConfirmationQuery(confirmationId, by))
        .compose(
            confirmationState ->
                confirmationState.status() == ConfirmationState.Status.APPROVED
                        && isOwn(confirmationState.confirmation(), by)
                    ? background
                        .find(confirmationId, by.name())
                        .map(Optional::of)
                        .otherwise(Optional.empty())
                        .map(call -> new DecidedCall(confirmationState, call))
                    : Future.succeededFuture(new DecidedCall(confirmationState, Optional.empty())));
  }

  /**
   * Waits until nothing more will become of one, or the time is over, or nobody waits any more.
   *
   * @param hasLeft whether the one who waits has left
   */
  public Future<DecidedCall> await(
      String confirmationId, Viewer by, long millis, BooleanSupplier hasLeft) {
    Promise<DecidedCall> promise = Promise.promise();
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    await(confirmationId, by, until, hasLeft, promise);
    return promise.future();
  }

  private void await(
      String id,
      Viewer by,
      long untilNanos,
      BooleanSupplier hasLeft,
      Promise<DecidedCall> promise) {
    look(id, by)
        .onFailure(promise::fail)
        .onSuccess(
            decidedCall -> {
              long left = TimeUnit.NANOSECONDS.toMillis(untilNanos - System.nanoTime());
              if (decidedCall.isOver() || left <= 0 || hasLeft.getAsBoolean()) {
                promise.complete(decidedCall);
              } else {
                vertx.setTimer(
                    Math.min(LOOK_MILLIS, left), t -> await(id, by, untilNanos, hasLeft, promise));
              }
            });
  }
}
