package dev.mcpbridge.call;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.ConfirmationQuery;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.Viewer;
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
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Calls that waited for a human's decision. If the approver is not the caller, the outcome is
 * stored for the caller like that of a background call, under the id of the confirmation; the
 * caller may query it or wait for it. Confined to its verticle.
 */
public final class DecidedCalls {
  private static final long POLL_MILLIS = 250;

  /** An approved call is found as running after this time at most. */
  private static final long STARTING_MILLIS = 2_000;

  private final Vertx vertx;
  private final Bus bus;
  private final CallPipeline pipeline;
  private final BackgroundCalls background;

  /**
   * The state of a call that required a confirmation.
   *
   * @param call the approved call, for its caller only; empty if its outcome is not stored
   */
  public record DecidedCall(
      ConfirmationState confirmationState, Optional<BackgroundCalls.BackgroundCall> call) {

    /** Whether this state is final. */
    public boolean isFinal() {
      return switch (confirmationState.status()) {
        case PENDING -> false;
        case REJECTED, EXPIRED -> true;
        case APPROVED ->
            call.map(approved -> approved.outcome().isComplete())
                .orElse(confirmationState.executed() != Executed.UNKNOWN);
      };
    }

    boolean isApproved() {
      return confirmationState.status() == ConfirmationState.Status.APPROVED;
    }

    /** Whether it was approved, runs, and its outcome will be stored. */
    boolean isRunning() {
      return call.isPresent() && !call.get().outcome().isComplete();
    }

    /** The outcome of the call; {@code undecided} until there is one. */
    public Future<CallOutcome> outcome(CallOutcome undecided) {
      String id = confirmationState.confirmation().id();
      return switch (confirmationState.status()) {
        case PENDING -> Future.succeededFuture(undecided);
        case REJECTED -> Future.failedFuture(rejected(confirmationState.ruling().reason()));
        case EXPIRED ->
            Future.failedFuture(
                new BridgeException(
                    ErrorCode.CONFIRMATION_EXPIRED,
                    "Confirmation '" + id + "' has expired, and the call has not run"));
        case APPROVED ->
            call.isPresent()
                ? approved(call.get(), undecided)
                : notKept(id, confirmationState.executed());
      };
    }

    private static BridgeException rejected(String reason) {
      return new BridgeException(
          ErrorCode.FORBIDDEN,
          "The call was rejected by a human" + (reason.isEmpty() ? "" : ": " + reason));
    }

    private static Future<CallOutcome> approved(
        BackgroundCalls.BackgroundCall call, CallOutcome undecided) {
      return call.outcome().isComplete() ? call.outcome() : Future.succeededFuture(undecided);
    }
  }

  public DecidedCalls(Vertx vertx, Bus bus, CallPipeline pipeline, BackgroundCalls background) {
    this.vertx = vertx;
    this.bus = bus;
    this.pipeline = pipeline;
    this.background = background;
  }

  /**
   * Runs an approved call at once. It runs even if there is no room to store its outcome, since it
   * cannot be approved again.
   *
   * @param streaming whether the approver wants progress events
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

  /** Whether the viewer is the caller of the call. */
  public static boolean isOwn(Confirmation confirmation, Viewer by) {
    return by.name().equals(confirmation.call().caller().name());
  }

  private static CallRequest request(Confirmation approved) {
    Call call = approved.call();
    return new CallRequest(
        call.id(), call.server(), call.target(), Arguments.NONE, call.caller(), false);
  }

  /** The state of a call. Fails with CONFIRMATION_NOT_FOUND. */
  public Future<DecidedCall> find(String confirmationId, Viewer by) {
    return bus.request(Gate.CONFIRMATION, new ConfirmationQuery(confirmationId, by))
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
   * Waits for a final state. Returns the present state after the given time or when the client
   * disconnected.
   *
   * @param isDisconnected whether the client has disconnected
   */
  public Future<DecidedCall> await(
      String confirmationId, Viewer by, long millis, BooleanSupplier isDisconnected) {
    return poll(
        confirmationId,
        by,
        millis,
        (found, remaining) -> remaining <= 0 || isDisconnected.getAsBoolean());
  }

  /**
   * Waits for the decision for the given time at most, and for the outcome of a call that was
   * approved in this time as long as it runs.
   *
   * @param isDisconnected whether the client has disconnected
   */
  public Future<DecidedCall> awaitOutcome(
      String confirmationId, Viewer by, long millis, BooleanSupplier isDisconnected) {
    return poll(
        confirmationId,
        by,
        millis,
        (found, remaining) ->
            isDisconnected.getAsBoolean()
                || remaining <= (found.isApproved() ? -STARTING_MILLIS : 0) && !found.isRunning());
  }

  /**
   * @param isOver whether the wait ends in a state that is not final, with so many milliseconds
   *     left
   */
  private Future<DecidedCall> poll(
      String id, Viewer by, long millis, BiPredicate<DecidedCall, Long> isOver) {
    Promise<DecidedCall> promise = Promise.promise();
    long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    poll(find(id, by), by, untilNanos, isOver, promise);
    return promise.future();
  }

  private void poll(
      Future<DecidedCall> look,
      Viewer by,
      long untilNanos,
      BiPredicate<DecidedCall, Long> isOver,
      Promise<DecidedCall> promise) {
    look.onFailure(promise::fail)
        .onSuccess(
            found -> {
              long remaining = TimeUnit.NANOSECONDS.toMillis(untilNanos - System.nanoTime());
              if (found.isFinal() || isOver.test(found, remaining)) {
                promise.complete(found);
              } else {
                vertx.setTimer(
                    remaining > 0 ? Math.min(POLL_MILLIS, remaining) : POLL_MILLIS,
                    t -> poll(again(found, by), by, untilNanos, isOver, promise));
              }
            });
  }

  /**
   * Looks once more. A call may run for longer than its confirmation is kept, and a node may lose
   * its majority meanwhile: then the last state counts. Whatever is gone may have been executed.
   */
  private Future<DecidedCall> again(DecidedCall last, Viewer by) {
    ConfirmationState state = last.confirmationState();
    String id = state.confirmation().id();
    Future<DecidedCall> look =
        last.call().isPresent()
            ? background.find(id, by.name()).map(call -> new DecidedCall(state, Optional.of(call)))
            : find(id, by);
    return look.recover(
        failure -> {
          ErrorCode code = BridgeException.of(failure).code();
          boolean isGone =
              code == ErrorCode.CALL_NOT_FOUND || code == ErrorCode.CONFIRMATION_NOT_FOUND;
          return isGone ? notKept(id, Executed.UNKNOWN) : Future.succeededFuture(last);
        });
  }

  private static <T> Future<T> notKept(String id, Executed executed) {
    return Future.failedFuture(
        new BridgeException(
                ErrorCode.OUTCOME_NOT_KEPT,
                "The outcome of confirmation '" + id + "' is not stored")
            .withExecuted(executed));
  }
}
