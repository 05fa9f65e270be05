package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.cluster.peer.Message.Kind;
import io.vertx.core.Future;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;

/**
 * Another node as this one sees it: whether it can be heard, the messages on their way, and the
 * questions that it has not answered. When it is lost, they fail with an unknown outcome. Confined
 * to the bridge's context.
 */
final class Peer {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long MAX_QUEUED_BYTES = 64L << 20;
  private static final long REPEAT_NANOS = 50_000_000;
  private static final long GREETING_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final String address;
  private final Wire wire;
  private final Outbox outbox;
  private final Inbox inbox;
  private final byte[] ownToken = new byte[16];
  private final Questions questions = new Questions();

  /** Null while the other node has not introduced itself since it was lost. */
  private Hello hello;

  /** The process whose messages the inbox has, also while it is lost; 0 before the first. */
  private long incarnation;

  private boolean isWanted = true;

  private long heardNanos;
  private long ackedBytes;
  private Frame.Position base = new Frame.Position(0, 0);
  private long askedAgainNanos;
  private long greetedNanos;
  private int greetings;
  private boolean isUp;
  private boolean isJoined;

  /** Whether it is not known yet which questions the other node got before its last stream. */
  private boolean isBaseUnknown;

  private int member;

  Peer(String address, int maxMessage, Wire wire) {
    this.address = address;
    this.wire = wire;
    this.inbox = new Inbox(maxMessage);
    this.outbox = new Outbox(MAX_QUEUED_BYTES, piece -> wire.send(this, piece.toBytes(token())));
    RANDOM.nextBytes(ownToken);
  }

  String address() {
    return address;
  }

  /** The display name, or its address. */
  String node() {
    return hello == null ? address : hello.node();
  }

  int member() {
    return member;
  }

  boolean isUp() {
    return isUp;
  }

  boolean isIntroduced() {
    return hello != null;
  }

  byte[] ownToken() {
    return ownToken.clone();
  }

  private byte[] token() {
    return hello == null ? new byte[0] : hello.token();
  }

  /** The other node has introduced itself: a new process begins anew. */
  void introduced(Hello newHello, long now) {
    boolean isSame = incarnation == newHello.incarnation();
    incarnation = newHello.incarnation();
    if (!isSame) {
      lose("it has started again");
      inbox.clear();
      base = inbox.position();
    }
    hello = newHello;
    heardNanos = now;
    greetings = 0;
    if (!isSame) {
      beat();
    }
  }

  /** Takes a frame; false if it does not come from the process that has introduced itself. */
  boolean receive(byte[] bytes, long now) {
    Frame frame = hello == null ? null : Frame.of(bytes, ownToken);
    if (frame == null) {
      return false;
    }
    heardNanos = now;
    if (frame instanceof Frame.Bye) {
      lose("it stops");
      hello = null;
      return true;
    }
    if (!isUp) {
      isUp = true;
      beat();
      wire.up(this);
    }
    if (frame instanceof Frame.Piece piece) {
      receive(piece);
    } else if (frame instanceof Frame.Beat beat) {
      receive(beat);
    } else if (frame instanceof Frame.Missing missing) {
      outbox.acknowledged(missing.stream(), missing.ackNumber());
      outbox.repeat(missing.stream());
    }
    return true;
  }

  private void receive(Frame.Piece piece) {
    noticeNewStream(piece.stream());
    switch (inbox.receive(
        piece.stream(), piece.number(), piece.message(), piece.left(), piece.bytes())) {
      case MESSAGE -> {
        acknowledge();
        deliver(Message.of(inbox.message()));
      }
      case INCOMPLETE -> acknowledge();
      case GAP -> askAgain();
      case INVALID -> lose("it sent an invalid message");
      case OLD -> {
        // it was sent again, or its questions have failed
      }
    }
  }

  private void receive(Frame.Beat beat) {
    if (beat.member() != 0 && (!isJoined || beat.member() != member)) {
      member = beat.member();
      isJoined = true;
      wire.joined(this);
    }
    noticeNewStream(beat.stream());
    if (isBaseUnknown && beat.stream() == inbox.stream()) {
      isBaseUnknown = false;
      questions.failUpTo(beat.base(), node(), "it could not reach this node");
    }
    outbox.acknowledged(beat.ackStream(), beat.ackNumber());
    if (!inbox.hasAll(beat.stream(), beat.lastNumber())) {
      askAgain();
    }
  }

  /** The other node lost this one for a while, and messages. Its next beat tells which answers. */
  private void noticeNewStream(long stream) {
    if (inbox.isNew(stream)) {
      isBaseUnknown |= inbox.stream() != 0;
      inbox.begin(stream);
    }
  }

  private void askAgain() {
    long now = System.nanoTime();
    if (now - askedAgainNanos > REPEAT_NANOS) {
      askedAgainNanos = now;
      wire.send(this, new Frame.Missing(inbox.stream(), inbox.number()).toBytes(token()));
    }
  }

  private void acknowledge() {
    if (inbox.bytes() - ackedBytes >= Outbox.PIECE_BYTES || inbox.bytes() < ackedBytes) {
      beat();
    }
  }

  void beat() {
    if (hello != null) {
      ackedBytes = inbox.bytes();
      wire.send(
          this,
          new Frame.Beat(
                  outbox.stream(),
                  outbox.lastNumber(),
                  inbox.stream(),
                  inbox.number(),
                  base,
                  wire.member())
              .toBytes(token()));
    }
  }

  private void deliver(Message message) {
    if (message == null) {
      return;
    }
    if (message.kind() == Kind.ANSWER || message.kind() == Kind.FAILURE) {
      questions.answered(message);
    } else {
      wire.message(this, message);
    }
  }

  /**
   * Sends a message that may be lost.
   *
   * @return false if the node is not connected or takes too long to receive what was sent before
   */
  boolean send(Message message) {
    return isUp && outbox.send(message.toBytes());
  }

  /** Sends an answer; if it cannot be sent, the other node is told that messages were lost. */
  void answer(Message message) {
    if (isUp && !outbox.send(message.toBytes())) {
      restart("it receives too slowly");
    }
  }

  Future<byte[]> ask(String name, byte[] body, long untilNanos) {
    long id = questions.nextId();
    Frame.Position after = new Frame.Position(outbox.stream(), outbox.lastNumber());
    return send(new Message(Kind.QUESTION, id, name, body))
        ? questions.sent(id, untilNanos, after)
        : Future.failedFuture(Questions.unreachable(node()));
  }

  /** The node does not listen. */
  void refused() {
    lose("it does not listen");
    hello = null;
  }

  void check(long now, long patienceNanos) {
    if (isUp && now - heardNanos > patienceNanos) {
      lose("nothing came for a while");
    }
    questions.failLate(node(), now);
  }

  /** Whether to connect to it again when it is lost. */
  void want(boolean isPeer) {
    isWanted = isPeer;
  }

  /** Whether this node should introduce itself now: less and less often without an answer. */
  boolean isGreetingDue(long now, long patienceNanos) {
    boolean isKnown = hello != null && now - heardNanos <= patienceNanos;
    if (isKnown
        || !isWanted
        || now - greetedNanos < Math.min(greetings * patienceNanos / 5, GREETING_NANOS)) {
      return false;
    }
    greetings++;
    greetedNanos = now;
    return true;
  }

  boolean hasSentAll() {
    return !isUp || outbox.isEmpty();
  }

  void bye() {
    if (hello != null) {
      wire.send(this, new Frame.Bye().toBytes(token()));
    }
  }

  private void lose(String reason) {
    boolean wasUp = isUp;
    isUp = false;
    isJoined = false;
    restart(reason);
    if (wasUp) {
      wire.down(this, reason);
    }
  }

  private void restart(String reason) {
    outbox.reset();
    base = inbox.position();
    questions.failAll(node(), reason);
    if (isUp) {
      beat();
      isJoined = false;
    }
  }
}
