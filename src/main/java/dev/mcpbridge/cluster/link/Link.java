package dev.mcpbridge.cluster.link;

import dev.mcpbridge.cluster.link.Greeting.Hello;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.impl.VertxConnection;
import io.vertx.core.parsetools.RecordParser;

/**
 * One connection to another node, from the greeting on. Until the other side has proved that it
 * knows the secret it may say nothing else. Frames that are written in one turn of the loop leave
 * together. A link that was silent for a while is cut, so that requests over it fail instead of
 * waiting. Confined to its context.
 */
final class Link implements Pieces.Sink {
  private static final int MAX_FRAME = 4 * Pieces.SIZE;
  private static final int MAX_GREETING = Pieces.SIZE;
  private static final int MAX_SHOWN = 300;
  private static final int TLS_HANDSHAKE = 0x1603;
  private static final int MAX_QUEUED = 64 << 20;
  private static final long LAST_WORDS_MILLIS = 500;

  private final Vertx vertx;
  private final NetSocket socket;
  private final boolean isDialler;
  private final Owner owner;
  private final Hello own;
  private final RecordParser parser = RecordParser.newFixed(4);
  private final Pieces pieces;
  private Hello other;
  private Buffer unsent = Buffer.buffer();
  private boolean flushing;
  private boolean hasLength;
  private boolean isUp;
  private boolean isOver;
  private int unanswered;

  /** This side stops, and how far that is. */
  private boolean isLeaving;

  private boolean isOtherSilent;
  private boolean hasSaidOver;

  /** The other side stops, and how far that is. */
  private boolean isOtherLeaving;

  private boolean hasSaidSilent;
  private long queued;
  private long lastHeardNanos = System.nanoTime();

  /** Who has the link. */
  interface Owner {
    byte[] key();

    /** Why this link is not for the member in a slot; null where it is. */
    String objection(int slot);

    /** Both have proved that they know the secret. */
    void up(Link link);

    void message(Link link, Message message);

    /** The other side stops: nothing is to be sent any more, and answers may still come. */
    void leaving(Link link);

    void down(Link link, String why);
  }

  Link(Vertx vertx, NetSocket socket, boolean isDialler, Hello own, int maxMessage, Owner owner) {
    this.vertx = vertx;
    this.socket = socket;
    this.isDialler = isDialler;
    this.own = own;
    this.owner = owner;
    this.pieces = new Pieces(maxMessage, this);
    parser.handler(this::read);
    socket.handler(parser);
    socket.closeHandler(v -> end("the connection was closed"));
    socket.exceptionHandler(e -> end(e.getMessage()));
    if (isDialler) {
      write(Frame.HELLO, own.toBytes());
    }
  }

  /** Whether the other side has ever proved that it knows the secret. */
  boolean isProved() {
    return isUp;
  }

  /** Whether the other side has said who it is. */
  boolean isKnown() {
    return other != null;
  }

  /** Which member the other side says it is; without {@link #isProved} that is only a claim. */
  int slot() {
    return other.slot();
  }

  String node() {
    return other.node();
  }

  void send(Message message) {
    if (!isOtherLeaving) {
      write(message, false);
    }
  }

  /** Sends what a node that asks for the state is told. */
  void sendState(Message message) {
    if (!isOtherLeaving) {
      write(message, true);
    }
  }

  /** Whether the state is still on its way; calls and their results do not count. */
  boolean isSendingState() {
    return pieces.isSendingState();
  }

  private void write(Message message, boolean isState) {
    if (isOver) {
      return;
    }
    byte[] bytes = message.toBytes();
    if (bytes.length > Pieces.SIZE) {
      pieces.send(bytes, isState);
    } else {
      write(Frame.MESSAGE, bytes);
    }
  }

  /** Says that it is there, and looks whether the other one is. */
  void beat(long patienceNanos) {
    if (System.nanoTime() - lastHeardNanos > patienceNanos) {
      end("nothing came for a while");
    } else if (isUp) {
      write(Frame.ALIVE, new byte[0]);
    }
  }

  /**
   * Begins to end it so that nothing is lost: the other side falls silent, what it has asked until
   * then is answered, and it closes when it has read the last answer. A connection that is closed
   * while something unread lies there would take unread answers at the other side with it (RFC 1122
   * section 4.2.2.13). Is over by itself, or to be ended by whoever does not want to wait longer.
   */
  void leave() {
    if (!isUp) {
      end("this node stops");
    } else if (!isLeaving) {
      isLeaving = true;
      write(Frame.LEAVING, new byte[0]);
    }
  }

  /** A question has come, which {@link #answer} is to be called for. */
  void asked() {
    unanswered++;
  }

  void answer(Message answer) {
    unanswered--;
    write(answer, false);
    goOnLeaving();
  }

  private void goOnLeaving() {
    if (isOtherLeaving && !hasSaidSilent && pieces.isIdle()) {
      hasSaidSilent = true;
      write(Frame.SILENT, new byte[0]);
    }
    boolean isDone = isOtherSilent && unanswered == 0 && pieces.isIdle();
    if (isLeaving && isDone && !hasSaidOver) {
      hasSaidOver = true;
      write(Frame.OVER, new byte[0]);
    }
  }

  void end(String why) {
    if (!isOver) {
      isOver = true;
      socket.close();
      vertx.setTimer(LAST_WORDS_MILLIS, t -> cut());
      owner.down(this, why);
    }
  }

  /** Closes what Vert.x would close when all is sent, which may be never. */
  private void cut() {
    if (socket instanceof VertxConnection netty) {
      netty.channelHandlerContext().close();
    }
  }

  boolean isUp() {
    return isUp && !isOver;
  }

  @Override
  public void piece(long stream, int left, byte[] bytes, int from, int to) {
    write(
        Frame.PIECE,
        new WireWriter(to - from + 16)
            .number(stream)
            .number(left)
            .bytes(bytes, from, to)
            .toBytes());
  }

  @Override
  public void credit(long stream, int bytes) {
    write(Frame.CREDIT, new WireWriter(16).number(stream).number(bytes).toBytes());
  }

  @Override
  public void message(byte[] whole) {
    Message message = Message.of(whole);
    if (message != null) {
      owner.message(this, message);
    }
  }

  private void write(Frame frame, byte[] payload) {
    unsent.appendInt(payload.length + 1).appendByte((byte) frame.ordinal()).appendBytes(payload);
    if (!flushing) {
      flushing = true;
      vertx.runOnContext(v -> flush());
    }
  }

  private void flush() {
    flushing = false;
    if (isOver) {
      return;
    }
    Buffer full = unsent;
    unsent = Buffer.buffer();
    queued += full.length();
    if (queued > MAX_QUEUED) {
      end("it does not take what is sent to it");
      return;
    }
    socket.write(full).onComplete(done -> queued -= full.length());
  }

  private void read(Buffer buffer) {
    if (isOver) {
      return;
    }
    lastHeardNanos = System.nanoTime();
    if (!hasLength) {
      int length = buffer.getInt(0);
      if (length < 1 || length > (isUp ? MAX_FRAME : MAX_GREETING)) {
        end(
            length >>> 16 == TLS_HANDSHAKE
                ? "it speaks TLS, and this node does not"
                : "a frame of " + length + " bytes");
        return;
      }
      hasLength = true;
      parser.fixedSizeMode(length);
      return;
    }
    hasLength = false;
    parser.fixedSizeMode(4);
    Frame frame = Frame.of(buffer.getByte(0) & 0xFF);
    try {
      take(frame, buffer.getBytes(1, buffer.length()));
    } catch (RuntimeException e) {
      end("it sent what is no message: " + e.getMessage());
    }
  }

  private void take(Frame frame, byte[] payload) {
    if (!isUp) {
      greet(frame, payload);
    } else if (frame != null) {
      hear(frame, payload);
    }
  }

  private void greet(Frame frame, byte[] payload) {
    if (frame == Frame.HELLO) {
      hello(Hello.of(payload));
    } else if (frame == Frame.PROOF) {
      proof(payload);
    } else if (frame == Frame.REFUSAL) {
      refused(payload);
    } else {
      throw new IllegalArgumentException("a message before the greeting");
    }
  }

  private void hear(Frame frame, byte[] payload) {
    switch (frame) {
      case HELLO, PROOF -> throw new IllegalArgumentException("a second greeting");
      case REFUSAL -> refused(payload);
      case ALIVE -> {
        // it was heard of, and that is all
      }
      case MESSAGE -> message(payload);
      case PIECE -> {
        WireReader in = new WireReader(payload);
        pieces.came(in.number(), (int) in.number(), in.bytes());
      }
      case CREDIT -> {
        WireReader in = new WireReader(payload);
        pieces.credited(in.number(), (int) in.number());
        goOnLeaving();
      }
      case LEAVING -> {
        isOtherLeaving = true;
        owner.leaving(this);
        goOnLeaving();
      }
      case SILENT -> {
        isOtherSilent = true;
        goOnLeaving();
      }
      case OVER -> {
        if (!isLeaving || hasSaidOver) {
          end("it has stopped");
        }
      }
    }
  }

  private void hello(Hello greeting) {
    if (other != null) {
      throw new IllegalArgumentException("a second greeting");
    }
    other = greeting;
    String objection = own.objection(greeting);
    if (objection == null) {
      objection = owner.objection(greeting.slot());
    }
    if (objection != null) {
      refuse(objection);
    } else if (!isDialler) {
      write(Frame.HELLO, own.toBytes());
      write(Frame.PROOF, Greeting.proof(owner.key(), false, greeting, own));
    }
  }

  private void proof(byte[] proof) {
    Hello first = isDialler ? own : other;
    Hello second = isDialler ? other : own;
    if (other == null) {
      throw new IllegalArgumentException("a proof before the greeting");
    }
    if (!Greeting.isSame(proof, Greeting.proof(owner.key(), !isDialler, first, second))) {
      refuse(
          "its cluster.secret is another one: set the same on all nodes, or, where none is set, run"
              + " all as the same user");
      return;
    }
    if (isDialler) {
      write(Frame.PROOF, Greeting.proof(owner.key(), true, own, other));
    }
    isUp = true;
    owner.up(this);
  }

  private void refused(byte[] payload) {
    String why = new WireReader(payload).text();
    end("it refuses this node: " + why.substring(0, Math.min(why.length(), MAX_SHOWN)));
  }

  private void refuse(String why) {
    write(Frame.REFUSAL, new WireWriter().text(why).toBytes());
    flush();
    end(why);
  }
}
