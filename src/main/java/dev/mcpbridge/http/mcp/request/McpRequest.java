package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.ReplyChannel;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.CancellationToken;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.protocol.Urgency;
import dev.mcpbridge.trace.Span;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A client's request and the channel for its response.
 *
 * @param toolCatalogue what the endpoint offers
 * @param caller who sent it and is the caller of its calls, with the rights and the credential of
 *     this request
 * @param cancellation of the request by its client, by a notification or by disconnecting
 * @param span the parent of the spans of its calls
 */
public record McpRequest(
    ClientMessage message,
    ToolCatalogue toolCatalogue,
    Client client,
    Caller caller,
    ReplyChannel replyChannel,
    CancellationToken cancellation,
    Span span) {

  /** Whether no call may start for the request. */
  boolean isCancelled() {
    return cancellation.isCancelled() || client.hasEnded();
  }

  /**
   * @throws BridgeException CANCELLED if no call may start for the request
   */
  void checkCancelled() {
    if (isCancelled()) {
      throw new BridgeException(ErrorCode.CANCELLED, "The client cancelled the request");
    }
  }

  /** Continues an earlier request of the client; null for a new one, or for one of a session. */
  String requestState() {
    return client.takesRequests() ? null : message.stringParam("requestState");
  }

  /** The client as an approver of confirmations. */
  Viewer viewer() {
    return Callers.viewer(caller.principal());
  }

  /**
   * The resource with a URI.
   *
   * @throws BridgeException INVALID_PARAMS for another URI
   */
  public ToolCatalogue.Resource resource(String uri) {
    return toolCatalogue.resource(uri).orElseThrow(() -> unknownResource(uri));
  }

  static BridgeException unknownResource(String uri) {
    return new BridgeException(ErrorCode.INVALID_PARAMS, "Unknown resource").with("uri", uri);
  }

  /** The token for progress notifications; null for none. */
  JsonSlice progressToken() {
    JsonSlice token = message.meta().get(MetaKeys.PROGRESS_TOKEN);
    if (token == null || token.equals(JsonSlice.NULL)) {
      return null;
    }
    if (!ClientMessage.isId(token)) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS, "progressToken must be a string or an integer");
    }
    return token;
  }

  /**
   * What is forwarded to the server besides target and arguments.
   *
   * @param handled the members of {@code params} that are handled here
   */
  Envelope envelope(Set<String> handled) {
    Envelope envelope =
        new Envelope(
            rest(message.params(), name -> isForwarded(name, handled)),
            rest(message.meta(), name -> !MetaKeys.isPerHop(name)),
            client.capabilities(),
            client.logLevel(),
            urgency());
    JsonSlice wish = message.meta().get(MetaKeys.CACHE);
    Envelope wished = wish == null ? envelope : envelope.withMeta(MetaKeys.CACHE, wish);
    return span.in(isConfirmedByOtherBridge() ? wished.without("elicitation") : wished);
  }

  /**
   * A name that differs from a handled one only by its case is refused: some servers take it for
   * the same, so that another tool would run than the one that was judged.
   */
  private static boolean isForwarded(String name, Set<String> handled) {
    if (handled.contains(name) || name.equals("_meta")) {
      return false;
    }
    if (handled.stream().anyMatch(name::equalsIgnoreCase) || name.equalsIgnoreCase("_meta")) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS, "params has a member that is only like another: " + name);
    }
    return true;
  }

  /** How urgent the client calls the request; UNSPECIFIED if it does not say. */
  private int urgency() {
    JsonSlice priority = message.meta().get(MetaKeys.PRIORITY);
    if (priority == null) {
      return Urgency.UNSPECIFIED;
    }
    String text = priority.text();
    if (text.length() != 1 || !Urgency.isValid(text.charAt(0) - '0')) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS, MetaKeys.PRIORITY + " must be an integer from 0 to 7");
    }
    return text.charAt(0) - '0';
  }

  /** Whether another bridge sent the request and has a user of its own who can confirm it. */
  boolean isConfirmedByOtherBridge() {
    return JsonSlice.of("true").equals(message.meta().get(MetaKeys.CONFIRMS));
  }

  private static JsonSlice rest(Map<String, JsonSlice> members, Predicate<String> passes) {
    JsonWriter out = null;
    for (Map.Entry<String, JsonSlice> member : members.entrySet()) {
      if (passes.test(member.getKey())) {
        out = out == null ? new JsonWriter().beginObject() : out;
        out.member(member.getKey(), member.getValue());
      }
    }
    return out == null ? JsonSlice.EMPTY_OBJECT : out.endObject().toSlice();
  }

  /** The arguments of a tool or prompt; empty if absent. */
  Arguments arguments() {
    JsonSlice arguments = message.params().get("arguments");
    if (arguments == null) {
      return Arguments.NONE;
    }
    if (!arguments.isObject()) {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params.arguments must be an object");
    }
    return Arguments.fromScanned(arguments, message.hasWhitespace());
  }
}
