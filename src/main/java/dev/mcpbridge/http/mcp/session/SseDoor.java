package dev.mcpbridge.http.mcp.session;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.mcp.reply.ClientMessage;
import dev.mcpbridge.http.mcp.reply.MessageStream;
import dev.mcpbridge.http.mcp.reply.PostReplies;
import dev.mcpbridge.http.mcp.reply.ReplyChannel;
import dev.mcpbridge.http.mcp.reply.RpcErrors;
import dev.mcpbridge.http.mcp.request.Endpoint;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RandomIds;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.Map;

/**
 * HTTP+SSE of 2024-11-05, for clients that support nothing newer: one stream for all messages to
 * the client. Its first event is the address for messages from it. The session ends with the
 * stream.
 */
public final class SseDoor {
  private final LegacyRequests requests;
  private final PostReplies replies;
  private final Map<String, Channel> channels = new HashMap<>();

  /** The stream of a client, which also carries every response. */
  private static final class Channel implements ReplyChannel {
    final Principal principal;
    final String share;
    final Selection endpoint;
    final MessageStream stream;
    LegacySession session;
    boolean closed;

    Channel(RoutingContext ctx, Selection endpoint, EventStream stream) {
      this.principal = Callers.of(ctx);
      this.share = Callers.share(ctx);
      this.endpoint = endpoint;
      this.stream = MessageStream.on(stream);
    }

    @Override
    public boolean takesStream() {
      return true;
    }

    @Override
    public boolean send(JsonSlice message) {
      return stream.send(message);
    }

    @Override
    public void finish(int status, JsonSlice message) {
      stream.send(message);
    }
  }

  public SseDoor(LegacyRequests requests, PostReplies replies) {
    this.requests = requests;
    this.replies = replies;
  }

  public void open(RoutingContext ctx, Selection endpoint) {
    EventStream.require(ctx);
    String id = RandomIds.next();
    EventStream stream = replies.stream(ctx, null);
    channels.put(id, new Channel(ctx, endpoint, stream));
    stream.onClose(() -> close(id));
    String lean = Queries.isLean(ctx) ? "&discovery=search" : "";
    String address = ctx.request().path() + "?sessionId=" + id + lean;
    stream.send("endpoint", JsonSlice.of(address));
  }

  /** Handles a message for a stream; its response or error is sent on the stream. */
  public void take(RoutingContext ctx, ClientMessage message, Endpoint endpoint) {
    Channel channel = channel(ctx, endpoint.selection());
    Caller sender = channel.session == null ? null : LegacyRequests.sender(ctx, channel.session);
    ctx.response().setStatusCode(202).end();
    boolean isInitialize = message.isRequest() && message.method().equals(McpMethod.INITIALIZE);
    try {
      if (isInitialize != (channel.session == null)) {
        throw new BridgeException(
            ErrorCode.MALFORMED_REQUEST, "initialize must come first and only once");
      }
      if (isInitialize) {
        initialize(channel, message, endpoint);
      } else {
        requests.handleInSession(channel.session, sender, message, endpoint, channel);
      }
    } catch (BridgeException refusal) {
      if (message.isRequest()) {
        RpcErrors.refuse(channel, message.id(), refusal);
      }
    }
  }

  private void initialize(Channel channel, ClientMessage message, Endpoint endpoint) {
    requests
        .openSession(channel.principal, channel.share, message, endpoint)
        .onComplete(
            opened -> {
              if (channel.closed) {
                requests.end(opened.session());
                return;
              }
              channel.session = opened.session();
              channel.session.streams().listen(channel.stream);
              channel.answer(message.id(), opened.result());
            },
            failure -> RpcErrors.refuse(channel, message.id(), failure));
  }

  private Channel channel(RoutingContext ctx, Selection endpoint) {
    Channel channel = channels.get(String.valueOf(ctx.request().getParam("sessionId")));
    boolean isOwner =
        channel != null
            && channel.principal.name().equals(Callers.of(ctx).name())
            && channel.endpoint.equals(endpoint);
    if (!isOwner) {
      throw LegacySessions.notFound();
    }
    return channel;
  }

  private void close(String id) {
    Channel channel = channels.remove(id);
    channel.closed = true;
    if (channel.session != null) {
      requests.end(channel.session);
    }
  }
}
