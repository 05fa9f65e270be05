package dev.mcpbridge.cluster.peer;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.eventbus.MessageProducer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.nio.channels.ClosedChannelException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The clustered event bus between nodes, with mutual TLS and a thread of its own. Its methods are
 * called on the bridge's context, and so are the handlers.
 */
final class NodeEventBus {
  private static final String HELLO = "hello";
  private static final String FRAMES = "frames";
  private static final String FROM = "from";

  private final Context context;
  private final Vertx bus;
  private final Context busContext;
  private final String self;
  private final Map<String, MessageProducer<byte[]>> producers = new HashMap<>();

  /** Receives what other nodes send. */
  interface Handlers {
    void hello(byte[] hello, Consumer<byte[]> reply);

    void frame(String from, byte[] frame);
  }

  private NodeEventBus(Context context, Vertx bus, String self) {
    this.context = context;
    this.bus = bus;
    this.busContext = bus.getOrCreateContext();
    this.self = self;
  }

  /** Listens at the address of this node; fails where it cannot be bound. */
  static Future<NodeEventBus> open(Context context, PeerBus.Options options, Handlers handlers) {
    String self = options.self().address();
    Promise<NodeEventBus> opened = Promise.promise();
    Thread opener =
        new Thread(
            () ->
                Vertx.builder()
                    .with(vertxOptions(options))
                    .withClusterManager(new AddressedNodes(self))
                    .buildClustered()
                    .map(vertx -> new NodeEventBus(context, vertx, self))
                    .compose(bus -> bus.serve(handlers))
                    .onComplete(
                        bus -> context.runOnContext(v -> opened.complete(bus)),
                        e -> context.runOnContext(v -> opened.fail(e))),
            "mcp-cluster-bus-open");
    opener.setDaemon(true);
    opener.start();
    return opened.future();
  }

  private static VertxOptions vertxOptions(PeerBus.Options options) {
    String self = options.self().address();
    EventBusOptions eventBus = new EventBusOptions();
    eventBus
        .setHost(options.host())
        .setPort(AddressedNodes.port(self))
        .setClusterPublicHost(AddressedNodes.host(self))
        .setClusterPublicPort(AddressedNodes.port(self))
        .setClusterPingInterval(1_000)
        .setClusterPingReplyInterval(1_000)
        .setConnectTimeout((int) Math.max(500, options.patienceMillis()))
        .setTcpNoDelay(true)
        .setReuseAddress(true)
        .setSsl(true)
        .setSslHandshakeTimeout(5)
        .setSslHandshakeTimeoutUnit(TimeUnit.SECONDS)
        .setClientAuth(ClientAuth.REQUIRED)
        .setTrustOptions(new PemTrustOptions().addCertPath(options.authority().toString()))
        .setKeyCertOptions(
            new PemKeyCertOptions()
                .addCertPath(options.certificate().toString())
                .addKeyPath(options.certificate().toString()));
    return new VertxOptions()
        .setEventLoopPoolSize(1)
        .setWorkerPoolSize(1)
        .setInternalBlockingPoolSize(1)
        .setEventBusOptions(eventBus)
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }

  private Future<NodeEventBus> serve(Handlers handlers) {
    Promise<NodeEventBus> serving = Promise.promise();
    busContext.runOnContext(v -> serve(handlers, serving));
    return serving.future();
  }

  private void serve(Handlers handlers, Promise<NodeEventBus> serving) {
    EventBus eventBus = bus.eventBus();
    eventBus.serializableChecker(name -> false);
    eventBus.clusterSerializableChecker(name -> false);
    Future<Void> hello =
        eventBus
            .<byte[]>consumer(AddressedNodes.busAddress(HELLO, self))
            .handler(
                message ->
                    context.runOnContext(
                        v ->
                            handlers.hello(
                                message.body(),
                                reply -> busContext.runOnContext(b -> message.reply(reply)))))
            .completion();
    Future<Void> frames =
        eventBus
            .<byte[]>consumer(AddressedNodes.busAddress(FRAMES, self))
            .handler(
                message -> {
                  String from = message.headers().get(FROM);
                  byte[] frame = message.body();
                  context.runOnContext(v -> handlers.frame(from, frame));
                })
            .completion();
    Future.all(hello, frames).map(this).onComplete(serving);
  }

  /** Introduces this node to another one. */
  Future<byte[]> greet(String address, byte[] hello, long timeoutMillis) {
    Promise<byte[]> answer = Promise.promise();
    DeliveryOptions delivery = new DeliveryOptions().setSendTimeout(timeoutMillis);
    busContext.runOnContext(
        v ->
            bus.eventBus()
                .<byte[]>request(AddressedNodes.busAddress(HELLO, address), hello, delivery)
                .onComplete(
                    reply -> context.runOnContext(c -> answer.complete(reply.body())),
                    e -> context.runOnContext(c -> answer.fail(e))));
    return answer.future();
  }

  /** Sends a frame; the handler is called if it cannot be delivered. */
  void send(String address, byte[] frame, Consumer<Throwable> undeliverable) {
    busContext.runOnContext(
        v ->
            write(address, frame)
                .onFailure(e -> context.runOnContext(c -> undeliverable.accept(e))));
  }

  /** Vert.x 5.1 throws if the connection has just been closed. */
  private Future<Void> write(String address, byte[] frame) {
    try {
      return producer(address).write(frame);
    } catch (IllegalStateException e) {
      return Future.failedFuture(new ClosedChannelException());
    }
  }

  private MessageProducer<byte[]> producer(String address) {
    return producers.computeIfAbsent(
        address,
        unknown ->
            bus.eventBus()
                .sender(
                    AddressedNodes.busAddress(FRAMES, address),
                    new DeliveryOptions().addHeader(FROM, self)));
  }

  Future<Void> close() {
    return bus.close();
  }
}
