package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

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
  private final Handlers handlers;
  private final Map<String, MessageProducer<byte[]>> producers = new HashMap<>();

  private final Queue<Outgoing> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean isScheduled = new AtomicBoolean();

  private record Outgoing(String address, byte[] frame) {}

  /** Receives what other nodes send. */
  interface Handlers {
    void hello(String from, byte[] hello);

    void frame(String from, byte[] frame);

    /** Frames could not be delivered. */
    void undeliverable(String to, Throwable failure);
  }

  private NodeEventBus(Context context, Vertx bus, String self, Handlers handlers) {
    this.context = context;
    this.bus = bus;
    this.busContext = bus.getOrCreateContext();
    this.self = self;
    this.handlers = handlers;
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
                    .map(vertx -> new NodeEventBus(context, vertx, self, handlers))
                    .compose(NodeEventBus::serve)
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
        .setTrustAll(false)
        .setTrustOptions(
            new PemTrustOptions().addCertPath(options.certificates().authority().toString()))
        .setKeyCertOptions(
            new PemKeyCertOptions()
                .addCertPath(options.certificates().own().toString())
                .addKeyPath(options.certificates().own().toString()));
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

  private Future<NodeEventBus> serve() {
    Promise<NodeEventBus> serving = Promise.promise();
    busContext.runOnContext(v -> serve(serving));
    return serving.future();
  }

  private void serve(Promise<NodeEventBus> serving) {
    EventBus eventBus = bus.eventBus();
    eventBus.serializableChecker(name -> false);
    eventBus.clusterSerializableChecker(name -> false);
    Future.all(consume(HELLO, handlers::hello), consume(FRAMES, this::receive))
        .map(this)
        .onComplete(serving);
  }

  private void receive(String from, byte[] frames) {
    WireReader in = new WireReader(frames);
    while (!in.isAtEnd()) {
      handlers.frame(from, in.bytes());
    }
  }

  private Future<Void> consume(String consumer, BiConsumer<String, byte[]> handler) {
    return bus.eventBus()
        .<byte[]>consumer(AddressedNodes.busAddress(consumer, self))
        .handler(
            message -> {
              String from = message.headers().get(FROM);
              byte[] body = message.body();
              if (from != null) {
                context.runOnContext(v -> handler.accept(from, body));
              }
            })
        .completion();
  }

  /** Sends what introduces this node. */
  Future<Void> sendHello(String address, byte[] hello) {
    Promise<Void> sent = Promise.promise();
    busContext.runOnContext(
        v ->
            write(AddressedNodes.busAddress(HELLO, address), hello)
                .onComplete(done -> context.runOnContext(c -> sent.handle(done))));
    return sent.future();
  }

  /**
   * Sends a frame, in one message with others that wait by then: a message costs more than the
   * frames in it.
   */
  void sendFrame(String address, byte[] frame) {
    waiting.add(new Outgoing(address, frame));
    if (isScheduled.compareAndSet(false, true)) {
      busContext.runOnContext(v -> sendWaiting());
    }
  }

  private void sendWaiting() {
    isScheduled.set(false);
    Map<String, List<byte[]>> frames = new HashMap<>();
    for (Outgoing next = waiting.poll(); next != null; next = waiting.poll()) {
      frames.computeIfAbsent(next.address(), first -> new ArrayList<>()).add(next.frame());
    }
    frames.forEach(this::sendFrames);
  }

  private void sendFrames(String address, List<byte[]> frames) {
    WireWriter out = new WireWriter(frames.stream().mapToInt(frame -> frame.length + 4).sum());
    for (byte[] frame : frames) {
      out.bytes(frame);
    }
    write(AddressedNodes.busAddress(FRAMES, address), out.toBytes())
        .onFailure(e -> context.runOnContext(v -> handlers.undeliverable(address, e)));
  }

  /** Vert.x 5.1 throws if the connection has just been closed. */
  private Future<Void> write(String busAddress, byte[] body) {
    try {
      return producers.computeIfAbsent(busAddress, this::producer).write(body);
    } catch (IllegalStateException e) {
      return Future.failedFuture(new ClosedChannelException());
    }
  }

  private MessageProducer<byte[]> producer(String busAddress) {
    return bus.eventBus().sender(busAddress, new DeliveryOptions().addHeader(FROM, self));
  }

  Future<Void> close() {
    return bus.close();
  }
}
