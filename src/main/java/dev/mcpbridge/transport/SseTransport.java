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
 * The HTTP+SSE transport of 2024-11-05: the server sends messages on one event stream, the client
 * posts its messages to the endpoint URL that the stream's first event announces. That URL must
 * have the same origin as the stream. The connection ends with the stream.
 */
public final class SseTransport implements Transport {
  private static final long TIMEOUT_MILLIS = 10_000;
  private static final String NO_ENDPOINT = "The server sent no endpoint event in time";

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

  /** Opens the stream; completes when the server has sent its endpoint event. */
  static Future<Transport> open(
      Context context, HttpPeer peer, StdioTransport.Limits limits, TransportListener listener) {
    SseTransport transport = new SseTransport(context.owner(), peer, limits, listener);
    Promise<Transport> opened = Promise.promise();
    long timer =
        context
            .owner()
            .setTimer(
                TIMEOUT_MILLIS,
                t -> {
                  transport.end(NO_ENDPOINT);
                  opened.tryFail(NO_ENDPOINT);
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
                    "The server answered HTTP "
                        + clientResponse.response().statusCode()
                        + " without an event stream");
              }
              read(clientResponse, limits);
              return endpoint.future();
            })
        .map(url -> this);
  }

  private void read(ClientResponse clientResponse, StdioTransport.Limits limits) {
    stream = clientResponse;
    SseReader events = new SseReader(limits.maxMessageBytes(), this::handle);
    clientResponse.events(
        events,
        BackpressuredBody.MAX_WAIT_NANOS,
        new ClientResponse.StreamListener() {
          @Override
          public void onOversizedEvent() {
            end("an event is longer than " + limits.maxMessageBytes() + " bytes");
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

  private void handle(SseReader.Event event) {
    if (event.type().equals("endpoint")) {
      setEndpoint(event.text());
    } else if (event.type().equals("message")) {
      try {
        RpcMessage message = reader.read(event.data(), 0, event.data().length);
        listener.messages(List.of(message));
      } catch (JsonSyntaxException e) {
        listener.garbage(1);
      }
    }
  }

  private void setEndpoint(String address) {
    try {
      URI url = peer.url().resolve(address);
      if (HttpOrigin.of(url).equals(HttpOrigin.of(peer.url()))) {
        endpoint.tryComplete(url);
        return;
      }
    } catch (IllegalArgumentException e) {
      // refused below
    }
    endpoint.tryFail("The endpoint URL of the server is invalid or has another origin");
    end("its endpoint URL is invalid or has another origin");
  }

  @Override
  public long send(byte[] line) {
    OutgoingMessage out = OutgoingMessage.of(reader, line);
    long id = out.id();
    PendingRequest cancelled = unanswered.remove(out.cancelled());
    if (cancelled != null) {
      cancelled.cancel();
    }
    PendingRequest pendingRequest = peer.post(endpoint.future().result(), line, Map.of());
    if (id >= 0) {
      unanswered.put(id, pendingRequest);
    } else {
      pendingRequest.cancelAfter(vertx, TIMEOUT_MILLIS);
    }
    pendingRequest
        .response()
        .onComplete(
            clientResponse -> {
              unanswered.remove(id);
              if (clientResponse.response().statusCode() >= 400 && id >= 0) {
                listener.lost(id, clientResponse.statusError());
              }
            },
            failure -> {
              unanswered.remove(id);
              ConnectFailures.reportLost(listener, id, failure);
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
