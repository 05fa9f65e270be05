package dev.mcpbridge.cluster.link;

import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.agreement.Replica;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.netty.handler.ssl.NotSslRecordException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The connections to all other nodes: of each pair the node that comes first in the list dials, and
 * dials again. A question whose link is lost, or whose time is over, fails with an unknown outcome;
 * one that cannot be sent fails as not executed. Confined to the context that opens it.
 */
public final class Links implements Replica.Peers {

  static final int PROTOCOL = 1;
  static final int OLDEST_PROTOCOL = 1;

  private static final Logger LOG = System.getLogger(Links.class.getName());
  private static final long REDIAL_MILLIS = 200;

  /** Nodes that are there fall silent at once, and silent connections are cut before. */
  private static final long LEAVE_MILLIS = 5_000;

  private final Vertx vertx;
  private final Identity self;
  private final Options options;
  private final byte[] key;
  private final Listener listener;
  private final Map<Integer, Link> up = new HashMap<>();
  private final Set<Link> all = new HashSet<>();
  private final Strangers strangers;
  private final Map<Long, Question> questions = new HashMap<>();
  private final Map<Integer, String> lastTrouble = new HashMap<>();
  private NetServer server;
  private NetClient client;
  private long count;
  private final Promise<Void> closed = Promise.promise();
  private boolean closing;

  /**
   * How nodes reach each other.
   *
   * @param server where this one listens, with its certificate where there is one
   * @param client how it dials
   * @param maxMessage bytes of the largest message that another node may send
   * @param patienceMillis after which a silent connection is cut
   */
  public record Options(
      NetServerOptions server,
      NetClientOptions client,
      String secret,
      int maxMessage,
      long patienceMillis) {}

  /** What comes from other nodes; called on the context. */
  public interface Listener {
    void up(int slot, String node);

    void down(int slot);

    void agreement(Signed message);

    void news(int slot, String topic, byte[] body);

    /**
     * @param answer takes the answer, or else the failure, as bytes; once
     */
    void question(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer);
  }

  private record Question(Link link, int slot, Promise<byte[]> promise, long untilNanos) {}

  /** What another node answered in place of a result, as bytes. */
  public static final class RemoteFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient byte[] bytes;

    RemoteFailure(byte[] bytes) {
      super("remote failure", null, false, false);
      this.bytes = bytes;
    }

    public byte[] bytes() {
      return bytes;
    }
  }

  public Links(Vertx vertx, Identity self, Options options, Listener listener) {
    this.vertx = vertx;
    this.self = self;
    this.options = options;
    this.key = Greeting.key(options.secret());
    this.listener = listener;
    this.strangers = new Strangers(self.members());
  }

  /** Listens, and dials; fails where the address cannot be bound. */
  public Future<Void> open() {
    client = vertx.createNetClient(options.client());
    server =
        vertx
            .createNetServer(options.server())
            .connectHandler(socket -> begin(socket, -1))
            .exceptionHandler(e -> strangers.report(reason(e)));
    return server
        .listen()
        .recover(e -> Future.failedFuture(cannotListen(e)))
        .onSuccess(
            listening -> {
              for (int slot = self.slot() + 1; slot < self.members().size(); slot++) {
                dial(slot);
              }
              vertx.setPeriodic(Math.max(20, options.patienceMillis() / 5), t -> beat());
            })
        .mapEmpty();
  }

  private IOException cannotListen(Throwable cause) {
    return new IOException(
        "cluster address "
            + name(self.slot())
            + ": "
            + cause.getMessage()
            + "; choose another one in cluster.members",
        cause);
  }

  /** Answers what other nodes ask until they know that this one stops, then ends all links. */
  public Future<Void> close() {
    closing = true;
    List.copyOf(all).forEach(Link::leave);
    if (all.isEmpty()) {
      closed.tryComplete();
    }
    return Future.any(closed.future(), vertx.timer(LEAVE_MILLIS))
        .transform(
            over -> {
              List.copyOf(all).forEach(link -> link.end("this node stops"));
              return server == null ? Future.succeededFuture() : server.close();
            });
  }

  @Override
  public boolean isReachable(int slot) {
    return up.containsKey(slot);
  }

  @Override
  public boolean isStillTelling(int slot) {
    Link link = up.get(slot);
    return link != null && link.isSendingState();
  }

  /** The names of the nodes that are connected, by slot. */
  public Map<Integer, String> nodes() {
    return up.values().stream().collect(Collectors.toMap(Link::slot, Link::node));
  }

  /** Sends what may be lost. */
  @Override
  public void send(int slot, Signed message) {
    Link link = up.get(slot);
    if (link == null) {
      return;
    }
    Message bytes = new Message(Message.Kind.AGREEMENT, 0, "", message.toBytes());
    if (message.tellsState()) {
      link.sendState(bytes);
    } else {
      link.send(bytes);
    }
  }

  /** Tells a node something; it is lost where the node is not connected. */
  public void tell(int slot, String topic, byte[] body) {
    Link link = up.get(slot);
    if (link != null) {
      link.send(new Message(Message.Kind.NEWS, 0, topic, body));
    }
  }

  /**
   * Asks a node.
   *
   * @return the answer; fails with {@link RemoteFailure} or a BridgeException
   */
  public Future<byte[]> ask(int slot, String address, byte[] body, long timeoutMillis) {
    Link link = up.get(slot);
    if (link == null) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.NODE_UNREACHABLE, "Node " + name(slot) + " is not connected")
              .withRetryAfter(1000));
    }
    long id = ++count;
    Promise<byte[]> promise = Promise.promise();
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    questions.put(id, new Question(link, slot, promise, until));
    link.send(new Message(Message.Kind.QUESTION, id, address, body));
    return promise.future();
  }

  private String name(int slot) {
    return self.members().get(slot);
  }

  private void dial(int slot) {
    if (closing) {
      return;
    }
    String[] address = self.members().get(slot).split(":(?=\\d+$)");
    client
        .connect(SocketAddress.inetSocketAddress(Integer.parseInt(address[1]), address[0]))
        .onSuccess(socket -> begin(socket, slot))
        .onFailure(
            e -> {
              report(slot, reason(e));
              vertx.setTimer(REDIAL_MILLIS, t -> dial(slot));
            });
  }

  /**
   * @param dialled the slot that was dialled; -1 where somebody else dialled
   */
  private void begin(NetSocket socket, int dialled) {
    if (closing) {
      socket.close();
      return;
    }
    Link link =
        new Link(
            vertx,
            socket,
            dialled >= 0,
            Greeting.Hello.of(self),
            options.maxMessage(),
            new End(dialled));
    all.add(link);
    if (dialled < 0) {
      strangers.add(link);
    }
  }

  private void beat() {
    long patience = TimeUnit.MILLISECONDS.toNanos(options.patienceMillis());
    List.copyOf(all).forEach(link -> link.beat(patience));
    long now = System.nanoTime();
    List<Question> late = new ArrayList<>();
    questions.values().removeIf(q -> q.untilNanos() - now <= 0 && late.add(q));
    late.forEach(
        q ->
            q.promise()
                .fail(
                    new BridgeException(
                            ErrorCode.DEADLINE_EXCEEDED,
                            "Node " + name(q.slot()) + " did not answer in time")
                        .withExecuted(Executed.UNKNOWN)));
  }

  /** Of TLS what lies behind a failure says more than the failure, and nothing of the bytes. */
  private static String reason(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof NotSslRecordException
        ? "it does not speak TLS"
        : String.valueOf(cause.getMessage());
  }

  private void report(int slot, String trouble) {
    if (!String.valueOf(trouble).equals(lastTrouble.put(slot, String.valueOf(trouble)))) {
      LOG.log(Level.INFO, "node={0} connected=false reason={1}", name(slot), trouble);
    }
  }

  /** What becomes of one link. */
  private final class End implements Link.Owner {
    private final int dialled;

    End(int dialled) {
      this.dialled = dialled;
    }

    @Override
    public byte[] key() {
      return key;
    }

    /** Asked before this node proves anything, since another member could be given that proof. */
    @Override
    public String objection(int slot) {
      boolean isExpected = dialled < 0 ? slot < self.slot() && slot >= 0 : slot == dialled;
      return isExpected ? null : "it calls itself another member than the one expected here";
    }

    @Override
    public void up(Link link) {
      int slot = link.slot();
      strangers.remove(link);
      Link before = up.put(slot, link);
      if (before != null) {
        lost(before);
        before.end("it has connected again");
      }
      lastTrouble.remove(slot);
      LOG.log(Level.INFO, "node={0} connected=true name={1}", name(slot), link.node());
      listener.up(slot, link.node());
    }

    @Override
    public void down(Link link, String why) {
      all.remove(link);
      strangers.remove(link);
      int slot = dialled >= 0 ? dialled : link.isProved() ? link.slot() : -1;
      if (slot >= 0) {
        report(slot, why);
        lost(link);
        if (up.remove(slot, link)) {
          listener.down(slot);
        }
      } else {
        strangers.report(link, why);
      }
      if (closing && all.isEmpty()) {
        closed.tryComplete();
      }
      if (dialled >= 0 && !closing && !up.containsKey(dialled)) {
        vertx.setTimer(REDIAL_MILLIS, t -> dial(dialled));
      }
    }

    @Override
    public void leaving(Link link) {
      if (up.remove(link.slot(), link)) {
        listener.down(link.slot());
      }
    }

    @Override
    public void message(Link link, Message message) {
      switch (message.kind()) {
        case AGREEMENT -> {
          Signed signed = Signed.of(message.body());
          if (signed.from() != link.slot()) {
            throw new IllegalArgumentException("it speaks for another node");
          }
          listener.agreement(signed);
        }
        case NEWS -> listener.news(link.slot(), message.name(), message.body());
        case QUESTION -> {
          link.asked();
          listener.question(
              link.slot(),
              message.name(),
              message.body(),
              (answer, failure) -> link.answer(reply(message.id(), answer, failure)));
        }
        case ANSWER -> settle(link, message.id(), promise -> promise.tryComplete(message.body()));
        case FAILURE ->
            settle(
                link, message.id(), promise -> promise.tryFail(new RemoteFailure(message.body())));
      }
    }

    private static Message reply(long id, byte[] answer, byte[] failure) {
      return failure == null
          ? new Message(Message.Kind.ANSWER, id, "", answer)
          : new Message(Message.Kind.FAILURE, id, "", failure);
    }

    /** Only the node that was asked can answer. */
    private void settle(Link link, long id, Consumer<Promise<byte[]>> how) {
      Question question = questions.get(id);
      if (question != null && question.link() == link) {
        questions.remove(id);
        how.accept(question.promise());
      }
    }

    private void lost(Link link) {
      List<Question> open = new ArrayList<>();
      questions.values().removeIf(q -> q.link() == link && open.add(q));
      open.forEach(
          q ->
              q.promise()
                  .tryFail(
                      new BridgeException(
                              ErrorCode.NODE_LOST,
                              "Node " + name(q.slot()) + " was lost while the call ran there")
                          .withExecuted(Executed.UNKNOWN)
                          .withRetryAfter(1000)));
    }
  }
}
