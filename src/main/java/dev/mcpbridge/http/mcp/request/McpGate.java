package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.ConfirmationQuery;
import dev.mcpbridge.bus.Addresses.ConfirmationState;
import dev.mcpbridge.bus.Addresses.HumanDecision;
import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
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
import java.util.function.Function;

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
  private final String statePrefix;

  /**
   * @param statePrefix prefix of the states of this bridge only
   */
  McpGate(Bus bus, DecisionWaiter decisionWaiter, String statePrefix) {
    this.bus = bus;
    this.decisionWaiter = decisionWaiter;
    this.statePrefix = statePrefix + "confirmation/";
  }

  /**
   * Requests a confirmation.
   *
   * @param run runs the approved call as the response to the request
   */
  Future<JsonSlice> requestConfirmation(
      McpRequest request,
      PendingConfirmation pending,
      Function<Confirmation, Future<JsonSlice>> run) {
    Confirmation confirmation = pending.confirmation();
    if (pending.token() != null && request.isConfirmedByOtherBridge()) {
      return Future.succeededFuture(delegated(pending));
    }
    if (pending.token() == null) {
      return decisionWaiter
          .decision(request, confirmation)
          .compose(
              outcome ->
                  outcome
                      .map(Future::succeededFuture)
                      .orElseGet(() -> explain(confirmation, true)));
    }
    if (!request.envelope(Set.of()).supportsElicitation("form")) {
      LOG.log(
          Level.WARNING,
          "server={0} tool={1} needs confirmation: mcp-bridge confirm {2} --token {3}",
          confirmation.call().server(),
          confirmation.call().target().name(),
          confirmation.id(),
          pending.token());
      return explain(confirmation, false);
    }
    if (request.client().takesRequests()) {
      return request
          .client()
          .sendRequest(
              request,
              McpMethod.ELICIT,
              Elicitation.question(confirmation),
              confirmation.expiresAtMillis() - confirmation.createdAtMillis())
          .recover(unanswered -> withdraw(request, pending, unanswered))
          .compose(answer -> decide(request, confirmation.id(), pending.token(), answer, run));
    }
    return Future.succeededFuture(inputRequired(confirmation, pending.token()));
  }

  /** Whether a request is repeated with an answer to a confirmation. */
  boolean isAnswered(McpRequest request) {
    String state = request.client().requestState(request.message());
    return confirmedElsewhere(request) != null || state != null && state.startsWith(statePrefix);
  }

  /** Continues a repeated request, if it is still the same. */
  Future<JsonSlice> resume(
      McpRequest request, CallIntent callIntent, Function<Confirmation, Future<JsonSlice>> run) {
    String confirmed = confirmedElsewhere(request);
    String value =
        confirmed == null
            ? request.message().stringParam("requestState").substring(statePrefix.length())
            : confirmed;
    String[] state = value.split("\\.");
    if (state.length != 2) {
      return Future.failedFuture(InputRequired.invalidState());
    }
    JsonSlice responses = request.message().params().get("inputResponses");
    JsonSlice answer = responses == null ? null : JsonObjects.members(responses).get(KEY);
    JsonSlice response = confirmed == null ? answer : Elicitation.ACCEPTED;
    Viewer viewer = Callers.viewer(request.client().principal());
    return bus.request(Addresses.CONFIRMATION, new ConfirmationQuery(state[0], viewer))
        .recover(McpGate::asInvalidState)
        .compose(
            confirmationState -> {
              Confirmation confirmation = confirmationState.confirmation();
              if (confirmationState.status() != ConfirmationState.Status.PENDING) {
                return notPending(confirmation.id(), state[1], viewer);
              }
              return covers(confirmation, request, callIntent)
                  ? decideIfAnswered(request, confirmation, state[1], response, run)
                  : Future.failedFuture(InputRequired.invalidState());
            });
  }

  /** Fails; the attempt to decide reports why the confirmation is no longer pending. */
  private Future<JsonSlice> notPending(String id, String token, Viewer viewer) {
    return bus.request(Addresses.DECIDE, new HumanDecision(id, false, token, viewer))
        .recover(McpGate::asInvalidState)
        .compose(rejected -> Future.failedFuture(InputRequired.invalidState()));
  }

  /** The confirmation that another bridge has confirmed; null for any other request. */
  private static String confirmedElsewhere(McpRequest request) {
    return JsonObjects.string(request.message().meta().get(MetaKeys.CONFIRMED));
  }

  private static JsonSlice delegated(PendingConfirmation pending) {
    Confirmation confirmation = pending.confirmation();
    JsonSlice meta =
        new JsonWriter()
            .beginObject()
            .member(MetaKeys.CONFIRMATION, confirmation.id() + "." + pending.token())
            .endObject()
            .toSlice();
    return ToolResult.text(Elicitation.message(confirmation) + ". It has not run.")
        .meta(meta)
        .error();
  }

  /** Rejects an unanswered confirmation, so that it cannot be answered later. */
  private Future<JsonSlice> withdraw(
      McpRequest request, PendingConfirmation pending, Throwable unanswered) {
    Viewer viewer = Callers.viewer(request.client().principal());
    String id = pending.confirmation().id();
    return bus.request(Addresses.DECIDE, new HumanDecision(id, false, pending.token(), viewer))
        .transform(rejected -> Future.failedFuture(unanswered));
  }

  private Future<JsonSlice> decideIfAnswered(
      McpRequest request,
      Confirmation confirmation,
      String token,
      JsonSlice answer,
      Function<Confirmation, Future<JsonSlice>> run) {
    return answer == null
        ? Future.succeededFuture(inputRequired(confirmation, token))
        : decide(request, confirmation.id(), token, answer, run);
  }

  private Future<JsonSlice> decide(
      McpRequest request,
      String confirmationId,
      String token,
      JsonSlice answer,
      Function<Confirmation, Future<JsonSlice>> run) {
    boolean isApproved = Elicitation.isAccepted(answer);
    Viewer viewer = Callers.viewer(request.client().principal());
    return bus.request(
            Addresses.DECIDE, new HumanDecision(confirmationId, isApproved, token, viewer))
        .recover(McpGate::asInvalidState)
        .compose(
            approved ->
                approved == null
                    ? Future.succeededFuture(ToolErrors.of("The call was rejected by the user"))
                    : run.apply(approved));
  }

  private static boolean covers(
      Confirmation confirmation, McpRequest request, CallIntent callIntent) {
    return confirmation.call().caller().name().equals(request.client().principal().name())
        && confirmation.call().server().equals(callIntent.server())
        && confirmation.call().target().equals(callIntent.target())
        && confirmation.call().arguments().equals(callIntent.arguments());
  }

  private JsonSlice inputRequired(Confirmation confirmation, String token) {
    return InputRequired.of(
        KEY,
        McpMethod.ELICIT,
        Elicitation.question(confirmation),
        statePrefix + confirmation.id() + "." + token);
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
      return Future.succeededFuture(ToolErrors.of(sentence));
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
