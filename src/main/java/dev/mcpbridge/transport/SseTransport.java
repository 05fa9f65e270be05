package dev.mcpbridge.transport;

import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import dev.mcpbridge.protocol.SseReader;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * HTTP+SSE of 2024-11-05: one stream on which everything comes, and an address for everything that
 * goes, named by the stream's first event. That address must be of the stream's own origin. The
 * connection is over when the stream is.
 */
public final class SseTransport implements Transport {
  private static final long PATIENCE_MILLIS = 10_000;
  private static final String SILENT = "The server has named no address in time";

  private final Vertx vertx;
  private final HttpPeer peer;
  private final RpcReader reader;
  private final TransportListener listener;
  private final Promise<URI> endpoint = Promise.promise();
  private final Map<Long, PendingRequest> unanswered = new HashMap<>();
  private ClientResponse stream;
  private boolean closed;

  private SseTransport(
      Vertx vertx, HttpPeer peer, StdioTransport.Limits limits, TransportListener listener) {
    this.vertx = vertx;
    this.peer = peer;
    this.reader = new RpcReader(limits.maxDepth());
    this.listener = listener;
  }

  /** Opens the stream; the transport is there when the stream has named its address. */
  static Future<Transport> open(
      Context context, HttpPeer peer, StdioTransport.Limits limits, TransportListener listener) {
    SseTransport transport = new SseTransport(context.owner(), peer, limits, listener);
    Promise<Transport> opened = Promise.promise();
    long timer =
        context
            .owner()
            .setTimer(
                PATIENCE_MILLIS,
                t -> {
                  transport.end(SILENT);
                  opened.tryFail(SILENT);
                });
    transport.connect(limits).onComplete(opened::tryComplete, opened::tryFail);
    return opened.future().onComplete(done -> context.owner().cancelTimer(timer));
  }

  private Future<Transport> connect(StdioTransport.Limits limits) {
    return peer.listen(peer.url(), Map.of())
        .compose(
            clientResponse -> {
              if (clientResponse.response().statusCode() != 200 || !clientResponse.isStream()) {
                clientResponse.abort();
                return Future.failedFuture(
                    "The server answered "
                        + clientResponse.response().statusCode()
                        + " and no event stream");
              }
              read(clientResponse, limits);
              return endpoint.future();
            })
        .map(named -> this);
  }

  private void read(ClientResponse clientResponse, StdioTransport.Limits limits) {
    stream = clientResponse;
    SseReader events = new SseReader(limits.maxMessageBytes(), this::take);
    clientResponse.events(
        events,
        BackpressuredBody.PATIENCE_NANOS,
        new ClientResponse.StreamListener() {
          @Override
          public void tooLong() {
            end("an event of more than " + limits.maxMessageBytes() + " bytes");
          }

          @Override
          public void ended(Throwable broken) {
            end(
                broken == null
                    ? "the event stream ended"
                    : "the event stream broke: " + broken.getMessage());
          }
        });
  }

  private void take(SseReader.Event event) {
    if (event.type().equals("endpoint")) {
      named(event.text());
    } else if (event.type().equals("message")) {
      try {
        RpcMessage message = reader.read(event.data(), 0, event.data().length);
        listener.messages(List.of(message));
      } catch (JsonSyntaxException e) {
        listener.garbage(1);
      }
    }
  }

  private void named(String address) {
    try {
      URI named = peer.url().resolve(address);
      if (HttpOrigin.of(named).equals(HttpOrigin.of(peer.url()))) {
        endpoint.tryComplete(named);
        return;
      }
    } catch (IllegalArgumentException e) {
      // refused below
    }
    endpoint.tryFail("The server names an address of another origin");
    end("it named an address of another origin");
  }

  @Override
  public long send(byte[] line) {
    OutgoingMessage out = OutgoingMessage.of(reader, line);
    long id = out.id();
    PendingRequest given = unanswered.remove(out.cancelled());
    if (given != null) {
      given.giveUp();
    }
    PendingRequest pendingRequest = peer.post(endpoint.future().result(), line, Map.of());
    if (id >= 0) {
      unanswered.put(id, pendingRequest);
    } else {
      pendingRequest.within(vertx, PATIENCE_MILLIS);
    }
    pendingRequest
        .answer()
        .onComplete(
            clientResponse -> {
              unanswered.remove(id);
              if (clientResponse.response().statusCode() >= 400 && id >= 0) {
                listener.lost(id, clientResponse.refusal());
              }
            },
            failure -> {
              unanswered.remove(id);
              ConnectFailures.lost(listener, id, failure);
            });
    return 0;
  }

  @Override
  public Future<Void> close() {
    end("stopped");
    return peer.close();
  }

  private void end(String reason) {
    if (!closed) {
      closed = true;
      endpoint.tryFail(reason);
      if (stream != null) {
        stream.abort();
      }
      listener.closed(reason);
    }
  }
}
