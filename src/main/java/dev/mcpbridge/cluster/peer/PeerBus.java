package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.cluster.peer.Message.Kind;
import dev.mcpbridge.wire.WireReader;
import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;
import javax.net.ssl.SSLHandshakeException;

/**
 * The messages between nodes, over a clustered event bus of its own with mutual TLS. Nodes
 * introduce themselves before they exchange anything else. A question whose node is lost, or whose
 * time is over, fails with an unknown outcome; one that cannot be sent fails as not executed.
 * Confined to the context that opened it.
 */
public final class PeerBus {
  private static final Logger LOG = System.getLogger(PeerBus.class.getName());
  private static final long CLOSE_MILLIS = 5_000;

  private final Vertx vertx;
  private final Options options;
  private final Listener listener;
  private final Map<String, Peer> peers = new HashMap<>();
  private final Map<String, String> lastTrouble = new HashMap<>();
  private final Set<String> greeting = new HashSet<>();
  private NodeEventBus bus;
  private long timer;
  private boolean isClosing;

  /**
   * How nodes reach each other.
   *
   * @param host on which this node listens
   * @param self how this node introduces itself; its token is not used
   * @param certificates certificates of this node and of the authority
   * @param maxMessage bytes of the largest message
   * @param patienceMillis after which a silent node counts as lost
   * @param member number of this node in the cluster
   */
  public record Options(
      Introduction self,
      String host,
      Certificates certificates,
      int maxMessage,
      long patienceMillis,
      IntSupplier member) {}

  /**
   * PEM files.
   *
   * @param own certificate of this node, and its key
   * @param authority certificates of the authority of all nodes
   * @param hint what to check if another node has a certificate of another authority
   */
  public record Certificates(Path own, Path authority, String hint) {}

  /**
   * How a node introduces itself.
   *
   * @param fingerprint of the secret
   */
  public record Introduction(
      String cluster,
      byte[] fingerprint,
      String address,
      String node,
      long incarnation,
      String version) {}

  /** What comes from other nodes; called on the context. */
  public interface Listener {
    /**
     * A node is connected that has a number in the cluster.
     *
     * @param node display name
     */
    void up(String address, int member, String node);

    void down(String address);

    void news(String address, int member, String topic, byte[] body);

    /**
     * @param answer takes the answer, or else the failure, as bytes; once
     */
    void question(
        String address, int member, String name, byte[] body, BiConsumer<byte[], byte[]> answer);
  }

  public PeerBus(Vertx vertx, Options options, Listener listener) {
    this.vertx = vertx;
    this.options = options;
    this.listener = listener;
  }

  /** Listens; fails where the address cannot be bound. */
  public Future<Void> open() {
    return NodeEventBus.open(vertx.getOrCreateContext(), options, new Received())
        .recover(e -> Future.failedFuture(cannotListen(e)))
        .onSuccess(
            opened -> {
              bus = opened;
              timer = vertx.setPeriodic(Math.max(20, options.patienceMillis() / 5), t -> beat());
            })
        .mapEmpty();
  }

  private IOException cannotListen(Throwable cause) {
    return new IOException(
        "cluster address "
            + options.self().address()
            + ": "
            + cause.getMessage()
            + "; choose another one in cluster.members",
        cause);
  }

  // --- peers

  /**
   * Sets the other nodes to connect to. Earlier ones are not forgotten: what was received of them
   * must not be received again.
   */
  public void setPeers(Collection<String> addresses) {
    for (String address : addresses) {
      if (!address.equals(options.self().address()) && !isClosing) {
        peer(address);
      }
    }
    peers.values().forEach(peer -> peer.want(addresses.contains(peer.address())));
  }

  private Peer peer(String address) {
    return peers.computeIfAbsent(
        address, unknown -> new Peer(address, options.maxMessage(), new PeerWire()));
  }

  public boolean isUp(String address) {
    Peer peer = peers.get(address);
    return peer != null && peer.isUp();
  }

  /** The addresses of the nodes that can be heard. */
  public List<String> connected() {
    return peers.values().stream().filter(Peer::isUp).map(Peer::address).toList();
  }

  private void beat() {
    long now = System.nanoTime();
    long patience = TimeUnit.MILLISECONDS.toNanos(options.patienceMillis());
    for (Peer peer : List.copyOf(peers.values())) {
      peer.check(now, patience);
      if (peer.isIntroduced()) {
        peer.beat();
      }
      if (peer.isGreetingDue(now, patience)) {
        greet(peer);
      }
    }
  }

  private void greet(Peer peer) {
    String address = peer.address();
    if (isClosing || !greeting.add(address)) {
      return;
    }
    bus.sendHello(address, Hello.of(options.self(), peer.ownToken()).toBytes(Hello.GREETING))
        .onComplete(
            sent -> {
              greeting.remove(address);
              if (sent.failed()) {
                report(address, reason(sent.cause()));
              }
            });
  }

  private Hello ownHello() {
    return Hello.of(options.self(), new byte[0]);
  }

  private final class Received implements NodeEventBus.Handlers {
    @Override
    public void hello(String from, byte[] bytes) {
      WireReader in = new WireReader(bytes);
      int kind = in.octet();
      if (isClosing) {
        return;
      }
      if (kind == Hello.REFUSAL) {
        report(from, in.text());
        return;
      }
      Hello hello = Hello.of(in);
      String objection = ownHello().objectionTo(hello);
      if (objection != null) {
        report(from, objection);
        bus.sendHello(from, Hello.refusal(hello.objectionTo(ownHello())));
        return;
      }
      Peer peer = peer(from);
      if (kind == Hello.GREETING) {
        bus.sendHello(from, Hello.of(options.self(), peer.ownToken()).toBytes(Hello.ANSWER));
      }
      peer.introduced(hello, System.nanoTime());
    }

    @Override
    public void frame(String from, byte[] frame) {
      Peer peer = peers.get(from);
      if (peer != null && !isClosing) {
        peer.receive(frame, System.nanoTime());
      }
    }

    @Override
    public void undeliverable(String to, Throwable failure) {
      if (isRefusal(failure)) {
        report(to, reason(failure));
        peer(to).refused();
      } else if (!isUp(to)) {
        report(to, reason(failure));
      }
    }
  }

  /**
   * Whether a connection to an address is refused. A connection that timed out says nothing about
   * now: it began before the other node could be heard again, perhaps.
   */
  static boolean isRefusal(Throwable failure) {
    return failure instanceof ConnectException && !(failure instanceof ConnectTimeoutException);
  }

  /** The cause behind a failure says more than the failure. */
  private String reason(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = cause.getMessage() == null ? "the connection was closed" : cause.getMessage();
    boolean isUntrusted =
        cause instanceof GeneralSecurityException || cause instanceof SSLHandshakeException;
    return isUntrusted ? message + options.certificates().hint() : message;
  }

  private void report(String address, String trouble) {
    if (!trouble.equals(lastTrouble.put(address, trouble))) {
      LOG.log(Level.INFO, "node={0} connected=false reason={1}", address, trouble);
    }
  }

  // --- messages

  /** Tells a node something; it is lost where the node is not connected. */
  public void tell(String address, String topic, byte[] body) {
    Peer peer = peers.get(address);
    if (peer != null) {
      peer.send(new Message(Kind.NEWS, 0, topic, body));
    }
  }

  /**
   * Asks a node.
   *
   * @return the answer; fails with {@link RemoteFailure} or a BridgeException
   */
  public Future<byte[]> ask(String address, String name, byte[] body, long timeoutMillis) {
    Peer peer = peers.get(address);
    if (peer == null) {
      return Future.failedFuture(Questions.unreachable(address));
    }
    return peer.ask(name, body, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis));
  }

  private final class PeerWire implements Wire {
    @Override
    public void send(Peer to, byte[] frame) {
      bus.sendFrame(to.address(), frame);
    }

    @Override
    public int member() {
      return options.member().getAsInt();
    }

    @Override
    public void up(Peer peer) {
      lastTrouble.remove(peer.address());
      LOG.log(Level.INFO, "node={0} connected=true name={1}", peer.address(), peer.node());
    }

    @Override
    public void joined(Peer peer) {
      listener.up(peer.address(), peer.member(), peer.node());
    }

    @Override
    public void down(Peer peer, String reason) {
      LOG.log(Level.INFO, "node={0} connected=false reason={1}", peer.address(), reason);
      listener.down(peer.address());
    }

    @Override
    public void message(Peer from, Message message) {
      if (message.kind() == Kind.NEWS) {
        listener.news(from.address(), from.member(), message.name(), message.body());
        return;
      }
      listener.question(
          from.address(),
          from.member(),
          message.name(),
          message.body(),
          (answer, failure) ->
              from.answer(
                  failure == null
                      ? new Message(Kind.ANSWER, message.id(), "", answer)
                      : new Message(Kind.FAILURE, message.id(), "", failure)));
    }
  }

  // --- closing

  /** Sends what waits to be sent, tells the other nodes that this one stops, and closes. */
  public Future<Void> close() {
    if (bus == null) {
      return Future.succeededFuture();
    }
    return sent(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS))
        .compose(
            done -> {
              isClosing = true;
              vertx.cancelTimer(timer);
              peers.values().forEach(Peer::bye);
              return vertx.timer(50);
            })
        .compose(told -> bus.close());
  }

  private Future<Void> sent(long untilNanos) {
    boolean isDone =
        peers.values().stream().allMatch(Peer::hasSentAll) || System.nanoTime() > untilNanos;
    return isDone ? Future.succeededFuture() : vertx.timer(10).compose(t -> sent(untilNanos));
  }
}
