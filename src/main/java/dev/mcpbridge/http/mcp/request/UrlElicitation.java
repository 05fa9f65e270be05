package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.call.ConsentTickets;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcWriter;
import dev.mcpbridge.protocol.ToolResult;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Sends the user of a client to the consent page (client/elicitation, URL mode): an error with the
 * link in a session, {@code input_required} in the stateless era, and an explaining tool error for
 * clients that open no links. Confined to the HTTP verticle.
 */
final class UrlElicitation {
  private static final String KEY = "consent";
  private static final long RETRY_MILLIS = 20_000;
  private static final long LINK_MILLIS = TimeUnit.MINUTES.toMillis(10);

  private final ConsentTickets consents;
  private final RequestStates states;

  /** The sessions that are told of a consent, each with its name. */
  private final Set<String> told = new HashSet<>();

  UrlElicitation(ConsentTickets consents, RequestStates states) {
    this.consents = consents;
    this.states = states;
  }

  /** The answer to a request that failed, if it needs a consent; else the failure. */
  Future<JsonSlice> ask(McpRequest request, Target target, Throwable cause) {
    if (!(cause instanceof BridgeException failure)
        || failure.code() != ErrorCode.CONSENT_REQUIRED
        || !(failure.members().get("connect_id") instanceof String name)) {
      return Future.failedFuture(cause);
    }
    if (request.envelope(Set.of()).supportsElicitation("url")) {
      return request.client().takesRequests()
          ? inSession(request, failure, name)
          : Future.succeededFuture(
              InputRequired.of(
                  KEY,
                  McpMethod.ELICIT,
                  link(failure, null),
                  states.of(RequestStates.Kind.CONSENT, name)));
    }
    return target.kind() == Target.Kind.TOOL
        ? Future.succeededFuture(ToolResult.text(failure.getMessage()).error())
        : Future.failedFuture(failure);
  }

  /** MCP 2025-11-25, client/elicitation: URLElicitationRequiredError. */
  private Future<JsonSlice> inSession(McpRequest request, BridgeException failure, String name) {
    tellWhenGiven(request, name);
    JsonSlice elicitations =
        new JsonWriter().beginArray().value(link(failure, name)).endArray().toSlice();
    return Future.failedFuture(
        new BridgeException(ErrorCode.URL_ELICITATION_REQUIRED, failure.getMessage())
            .with("elicitations", elicitations));
  }

  private void tellWhenGiven(McpRequest request, String name) {
    String session = request.caller().session() + ' ' + name;
    if (told.add(session)) {
      consents
          .await(name, LINK_MILLIS)
          .onComplete(
              given -> {
                told.remove(session);
                if (given && !request.client().hasEnded()) {
                  request.client().tell(completed(name));
                }
              },
              failed -> told.remove(session));
    }
  }

  private static JsonSlice completed(String name) {
    JsonSlice params =
        new JsonWriter().beginObject().member("elicitationId", name).endObject().toSlice();
    return RpcWriter.notification(McpMethod.ELICIT_COMPLETE, params).toSlice();
  }

  /**
   * The params of an elicitation.
   *
   * @param id null in the stateless era
   */
  private static JsonSlice link(BridgeException failure, String id) {
    JsonWriter out = new JsonWriter(512).beginObject().member("mode", "url");
    if (id != null) {
      out.member("elicitationId", id);
    }
    return out.member("url", (String) failure.members().get("connect_url"))
        .member("message", failure.getMessage())
        .endObject()
        .toSlice();
  }

  /** Whether a request is repeated after its user was sent to the page. */
  boolean isAnswered(McpRequest request) {
    return states.content(RequestStates.Kind.CONSENT, request) != null;
  }

  /**
   * Continues a repeated request. A user who accepts has only opened the link, so the consent is
   * waited for.
   */
  Future<JsonSlice> resume(McpRequest request, Supplier<Future<JsonSlice>> repeat) {
    JsonSlice answer = InputRequired.answer(request, KEY);
    String action =
        answer == null ? null : JsonObjects.string(JsonObjects.members(answer).get("action"));
    if (!"accept".equals(action)) {
      return Future.succeededFuture(
          ToolResult.text("The user did not agree that this bridge uses the server").error());
    }
    String name = states.content(RequestStates.Kind.CONSENT, request);
    return consents.await(name, RETRY_MILLIS).compose(given -> repeat.get());
  }
}
