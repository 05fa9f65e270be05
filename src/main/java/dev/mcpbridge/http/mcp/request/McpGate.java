package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.ConfirmationQuery;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.ToolResult;
import io.vertx.core.Future;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Confirmations in MCP: {@code input_required} in the stateless era, {@code elicitation/create}
 * before it, and an explaining tool error for clients that support neither. If an operator decides,
 * a client that accepts progress notifications waits. Another bridge whose client has no forms gets
 * the confirmation's id and token, to repeat the request with once its own user has confirmed. The
 * confirmations are those of REST; an approval covers only what was shown.
 */
final class McpGate {
  private static final Logger LOG = System.getLogger(McpGate.class.getName());
  private static final String KEY = "confirmation";

  private final Bus bus;
  private final DecisionWaiter decisionWaiter;
  private final RequestStates states;
  private final BiFunction<McpRequest, Confirmation, Future<JsonSlice>> runApproved;

  /**
   * @param runApproved runs an approved call as the response to a request
   */
  McpGate(
      Bus bus,
      DecisionWaiter decisionWaiter,
      RequestStates states,
      BiFunction<McpRequest, Confirmation, Future<JsonSlice>> runApproved) {
    this.bus = bus;
    this.decisionWaiter = decisionWaiter;
    this.states = states;
    this.runApproved = runApproved;
  }

  /** Requests a confirmation of a call, and runs it once it is approved. */
  Future<JsonSlice> requestConfirmation(McpRequest request, PendingConfirmation pending) {
    Confirmation confirmation = pending.confirmation();
    String token = pending.token();
    if (token == null) {
      return decisionWaiter
          .decision(request, confirmation)
          .compose(
              outcome ->
                  outcome
                      .map(Future::succeededFuture)
                      .orElseGet(() -> explain(confirmation, true)));
    }
    if (request.isConfirmedByOtherBridge()) {
      return Future.succeededFuture(delegated(confirmation, token));
    }
    if (!request.envelope(Set.of()).supportsElicitation("form")) {
      LOG.log(
          Level.WARNING,
          "server={0} tool={1} needs confirmation: mcp-bridge confirm {2} --token {3}",
          confirmation.call().server(),
          confirmation.call().target().name(),
          confirmation.id(),
          token);
      return explain(confirmation, false);
    }
    if (!request.client().takesRequests()) {
      return Future.succeededFuture(inputRequired(confirmation, token));
    }
    long timeoutMillis = confirmation.expiresAtMillis() - confirmation.createdAtMillis();
    return request
        .client()
        .sendRequest(request, McpMethod.ELICIT, Elicitation.question(confirmation), timeoutMillis)
        .recover(unanswered -> withdraw(request, confirmation, token, unanswered))
        .compose(answer -> runIfAccepted(request, confirmation, token, answer));
  }

  /** Whether a request is repeated with an answer to a confirmation. */
  boolean isAnswered(McpRequest request) {
    return confirmedElsewhere(request) != null
        || states.content(RequestStates.Kind.CONFIRMATION, request) != null;
  }

  /** Continues a repeated request, if it is still the same. */
  Future<JsonSlice> resume(McpRequest request, CallIntent callIntent) {
    String confirmed = confirmedElsewhere(request);
    String value =
        confirmed == null ? states.content(RequestStates.Kind.CONFIRMATION, request) : confirmed;
    String[] state = value.split("\\.");
    if (state.length != 2) {
      return Future.failedFuture(InputRequired.invalidState());
    }
    String id = state[0];
    String token = state[1];
    JsonSlice answer =
        confirmed == null ? InputRequired.answer(request, KEY) : Elicitation.ACCEPTED;
    return bus.request(Gate.CONFIRMATION, new ConfirmationQuery(id, request.viewer()))
        .recover(McpGate::asInvalidState)
        .compose(
            found -> {
              Confirmation confirmation = found.confirmation();
              if (found.status() != ConfirmationState.Status.PENDING) {
                return notPending(request, confirmation.id(), token);
              }
              if (!covers(confirmation, request, callIntent)) {
                return Future.failedFuture(InputRequired.invalidState());
              }
              return answer == null
                  ? Future.succeededFuture(inputRequired(confirmation, token))
                  : runIfAccepted(request, confirmation, token, answer);
            });
  }

  /** Fails; the attempt to decide reports why the confirmation is no longer pending. */
  private Future<JsonSlice> notPending(McpRequest request, String id, String token) {
    return decide(request, id, token, false)
        .recover(McpGate::asInvalidState)
        .compose(rejected -> Future.failedFuture(InputRequired.invalidState()));
  }

  /** The confirmation that another bridge has confirmed; null for any other request. */
  private static String confirmedElsewhere(McpRequest request) {
    return JsonObjects.string(request.message().meta().get(MetaKeys.CONFIRMED));
  }

  private static JsonSlice delegated(Confirmation confirmation, String token) {
    JsonSlice meta =
        new JsonWriter()
            .beginObject()
            .member(MetaKeys.CONFIRMATION, confirmation.id() + "." + token)
            .endObject()
            .toSlice();
    return ToolResult.text(Elicitation.message(confirmation) + ". It has not run.")
        .meta(meta)
        .error();
  }

  /** Rejects an unanswered confirmation, so that it cannot be answered later. */
  private Future<JsonSlice> withdraw(
      McpRequest request, Confirmation confirmation, String token, Throwable unanswered) {
    return decide(request, confirmation.id(), token, false)
        .transform(rejected -> Future.failedFuture(unanswered));
  }

  private Future<JsonSlice> runIfAccepted(
      McpRequest request, Confirmation confirmation, String token, JsonSlice answer) {
    return decide(request, confirmation.id(), token, Elicitation.isAccepted(answer))
        .recover(McpGate::asInvalidState)
        .compose(
            approved ->
                approved == null
                    ? Future.succeededFuture(
                        ToolResult.text("The call was rejected by the user").error())
                    : runApproved.apply(request, approved));
  }

  /** Decides as the client's principal; the approved call, or null for a rejected one. */
  private Future<Confirmation> decide(
      McpRequest request, String id, String token, boolean isApproved) {
    return bus.request(Gate.DECIDE, new HumanDecision(id, isApproved, token, request.viewer()));
  }

  private static boolean covers(
      Confirmation confirmation, McpRequest request, CallIntent callIntent) {
    Call call = confirmation.call();
    return call.caller().name().equals(request.caller().name())
        && new CallIntent(call.server(), call.target(), call.arguments()).equals(callIntent);
  }

  private JsonSlice inputRequired(Confirmation confirmation, String token) {
    return InputRequired.of(
        KEY,
        McpMethod.ELICIT,
        Elicitation.question(confirmation),
        states.of(RequestStates.Kind.CONFIRMATION, confirmation.id() + "." + token));
  }

  /** An explanation for a model, which must never see the token. */
  private static Future<JsonSlice> explain(Confirmation confirmation, boolean byOperator) {
    String id = confirmation.id();
    String instructions =
        byOperator
            ? "a principal with the scope approve must confirm it (POST /confirmations/"
                + id
                + " {\"confirm\": true}); then GET /confirmations/"
                + id
                + " returns the outcome."
            : "a human must confirm it: mcp-bridge confirm "
                + id
                + ", with the token from the bridge's log, or with a key of the scope approve.";
    String sentence = Elicitation.message(confirmation) + ". It has not run: " + instructions;
    if (confirmation.call().target().kind() == Target.Kind.TOOL) {
      return Future.succeededFuture(ToolResult.text(sentence).error());
    }
    return Future.failedFuture(new BridgeException(ErrorCode.FORBIDDEN, sentence));
  }

  private static <T> Future<T> asInvalidState(Throwable failure) {
    return Future.failedFuture(
        failure instanceof BridgeException e
                && (e.code() == ErrorCode.WRONG_TOKEN
                    || e.code() == ErrorCode.CONFIRMATION_NOT_FOUND
                    || e.code() == ErrorCode.CONFIRMATION_EXPIRED)
            ? InputRequired.invalidState().withExecuted(e.executed())
            : failure);
  }
}
