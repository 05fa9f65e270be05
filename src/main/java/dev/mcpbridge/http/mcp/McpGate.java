package dev.mcpbridge.http.mcp;

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
 * Confirmations in MCP's own forms: {@code input_required} in the stateless era, {@code
 * elicitation/create} before it, and for clients with neither a result that explains. Where an
 * operator decides, a client that hears of progress waits for it. Another bridge whose client has
 * neither is told what to come back with once its own human has confirmed the call. The
 * confirmation behind them is the one that REST has; an approval covers what was shown and nothing
 * else.
 */
final class McpGate {
  private static final Logger LOG = System.getLogger(McpGate.class.getName());
  private static final String KEY = "confirmation";

  private final Bus bus;
  private final DecisionWait wait;
  private final String mark;

  /**
   * @param mark what the states of this bridge begin with, and of no other
   */
  McpGate(Bus bus, DecisionWait wait, String mark) {
    this.bus = bus;
    this.wait = wait;
    this.mark = mark + "confirmation/";
  }

  /**
   * Asks.
   *
   * @param run runs what was approved, as the answer to the request
   */
  Future<JsonSlice> ask(
      McpRequest request,
      PendingConfirmation pending,
      Function<Confirmation, Future<JsonSlice>> run) {
    Confirmation confirmation = pending.confirmation();
    if (pending.token() != null && request.isConfirmedElsewhere()) {
      return Future.succeededFuture(toBeConfirmedThere(pending));
    }
    if (pending.token() == null) {
      return wait.decision(request, confirmation)
          .compose(
              outcome ->
                  outcome
                      .map(Future::succeededFuture)
                      .orElseGet(() -> explain(confirmation, true)));
    }
    if (!request.envelope(Set.of()).elicits("form")) {
      LOG.log(
          Level.WARNING,
          "server={0} tool={1} waits for a human: mcp-bridge confirm {2} --token {3}",
          confirmation.call().server(),
          confirmation.call().target().name(),
          confirmation.id(),
          pending.token());
      return explain(confirmation, false);
    }
    if (request.client() instanceof LegacySession session) {
      return session
          .ask(
              request,
              McpMethod.ELICIT,
              Elicitation.question(confirmation),
              confirmation.expiresAtMillis() - confirmation.createdAtMillis())
          .recover(unanswered -> withdraw(request, pending, unanswered))
          .compose(answer -> decide(request, confirmation.id(), pending.token(), answer, run));
    }
    return Future.succeededFuture(inputRequired(confirmation, pending.token()));
  }

  /** Whether a request comes back with the answer to a question of the gate. */
  boolean isAnswered(McpRequest request) {
    String state = request.message().text("requestState");
    return confirmed(request) != null
        || request.client() instanceof StatelessClient && state != null && state.startsWith(mark);
  }

  /** Goes on with a request that was asked about, if it is still the same. */
  Future<JsonSlice> resume(
      McpRequest request, CallIntent callIntent, Function<Confirmation, Future<JsonSlice>> run) {
    String confirmed = confirmed(request);
    String whole =
        confirmed == null
            ? request.message().text("requestState").substring(mark.length())
            : confirmed;
    String[] state = whole.split("\\.");
    if (state.length != 2) {
      return Future.failedFuture(InputRequired.foreignState());
    }
    JsonSlice responses = request.message().params().get("inputResponses");
    JsonSlice answer = responses == null ? null : JsonObjects.members(responses).get(KEY);
    JsonSlice said = confirmed == null ? answer : Elicitation.YES;
    Viewer viewer = Callers.viewer(request.client().principal());
    return bus.request(Addresses.CONFIRMATION, new ConfirmationQuery(state[0], viewer))
        .recover(McpGate::asForeignState)
        .compose(
            confirmationState -> {
              Confirmation known = confirmationState.confirmation();
              if (confirmationState.status() != ConfirmationState.Status.PENDING) {
                return notPending(known.id(), state[1], viewer);
              }
              return covers(known, request, callIntent)
                  ? proceed(request, known, state[1], said, run)
                  : Future.failedFuture(InputRequired.foreignState());
            });
  }

  /** Its decision says what is known of a confirmation that does not wait any more. */
  private Future<JsonSlice> notPending(String id, String token, Viewer viewer) {
    return bus.request(Addresses.DECIDE, new HumanDecision(id, false, token, viewer))
        .recover(McpGate::asForeignState)
        .compose(rejected -> Future.failedFuture(InputRequired.foreignState()));
  }

  /** What another bridge comes back with; null for any other request. */
  private static String confirmed(McpRequest request) {
    return JsonObjects.string(request.message().meta().get(MetaKeys.CONFIRMED));
  }

  private static JsonSlice toBeConfirmedThere(PendingConfirmation pending) {
    Confirmation confirmation = pending.confirmation();
    JsonSlice meta =
        new JsonWriter()
            .beginObject()
            .member(MetaKeys.CONFIRMATION, confirmation.id() + "." + pending.token())
            .endObject()
            .toSlice();
    return ToolResult.text(Elicitation.sentence(confirmation) + ". It has not run.")
        .meta(meta)
        .error();
  }

  /** A question that nobody answers any more must not be answered later. */
  private Future<JsonSlice> withdraw(
      McpRequest request, PendingConfirmation pending, Throwable unanswered) {
    Viewer viewer = Callers.viewer(request.client().principal());
    String id = pending.confirmation().id();
    return bus.request(Addresses.DECIDE, new HumanDecision(id, false, pending.token(), viewer))
        .transform(gone -> Future.failedFuture(unanswered));
  }

  private Future<JsonSlice> proceed(
      McpRequest request,
      Confirmation known,
      String token,
      JsonSlice answer,
      Function<Confirmation, Future<JsonSlice>> run) {
    return answer == null
        ? Future.succeededFuture(inputRequired(known, token))
        : decide(request, known.id(), token, answer, run);
  }

  private Future<JsonSlice> decide(
      McpRequest request,
      String confirmationId,
      String token,
      JsonSlice answer,
      Function<Confirmation, Future<JsonSlice>> run) {
    boolean yes = Elicitation.isYes(answer);
    Viewer viewer = Callers.viewer(request.client().principal());
    return bus.request(Addresses.DECIDE, new HumanDecision(confirmationId, yes, token, viewer))
        .recover(McpGate::asForeignState)
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
        mark + confirmation.id() + "." + token);
  }

  /** For a model, which must never read the token. */
  private static Future<JsonSlice> explain(Confirmation confirmation, boolean byAnOperator) {
    String id = confirmation.id();
    String how =
        byAnOperator
            ? "a principal with the scope approve has to confirm it (POST /confirmations/"
                + id
                + " {\"confirm\": true}); GET /confirmations/"
                + id
                + " has the outcome then."
            : "a human has to confirm it: mcp-bridge confirm "
                + id
                + ", with the token that the log of the bridge has, or with a key of the scope"
                + " approve.";
    String sentence = Elicitation.sentence(confirmation) + ". It has not run: " + how;
    if (confirmation.call().target().kind() == Target.Kind.TOOL) {
      return Future.succeededFuture(ToolErrors.of(sentence));
    }
    return Future.failedFuture(new BridgeException(ErrorCode.FORBIDDEN, sentence));
  }

  private static <T> Future<T> asForeignState(Throwable failure) {
    return Future.failedFuture(
        failure instanceof BridgeException e
                && (e.code() == ErrorCode.WRONG_TOKEN
                    || e.code() == ErrorCode.CONFIRMATION_NOT_FOUND
                    || e.code() == ErrorCode.CONFIRMATION_EXPIRED)
            ? InputRequired.foreignState().withExecuted(e.executed())
            : failure);
  }
}
