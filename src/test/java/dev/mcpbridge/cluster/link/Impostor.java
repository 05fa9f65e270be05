package dev.mcpbridge.cluster.link;

import dev.mcpbridge.cluster.link.Greeting.Hello;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;

/** Speaks as a node over a socket of its own, and says whatever a test wants. Blocks. */
public final class Impostor implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 20_000;
  private static final byte[] NO_KEY = {};

  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final byte[] key;
  private final Hello own;

  /** What has come; null for the kind where nothing comes any more. */
  record Said(Frame frame, byte[] payload) {}

  private Impostor(Socket socket, Hello own, byte[] key) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(PATIENCE_MILLIS);
    this.in = new DataInputStream(socket.getInputStream());
    this.out = new DataOutputStream(socket.getOutputStream());
    this.key = key;
    this.own = own;
  }

  private Impostor(Socket socket, Identity claimed, String secret) throws IOException {
    this(socket, Hello.of(claimed), Greeting.key(secret));
  }

  static Identity node(List<String> members, int slot) {
    return new Identity("c", members, slot, "n" + slot, "1", 1);
  }

  /** Dials a member, which comes after the one that it claims to be. */
  static Impostor dial(int member, Identity claimed, String secret) throws IOException {
    return new Impostor(new Socket("127.0.0.1", port(claimed.members(), member)), claimed, secret);
  }

  /** Takes the next connection to the member that it claims to be. */
  static Impostor dialled(ServerSocket there, Identity claimed, String secret) throws IOException {
    return new Impostor(there.accept(), claimed, secret);
  }

  /** Says what another one has said, on a connection of its own. */
  static Impostor again(Impostor other, List<String> members, int member) throws IOException {
    return new Impostor(new Socket("127.0.0.1", port(members, member)), other.own, NO_KEY);
  }

  static int port(List<String> members, int slot) {
    return Integer.parseInt(members.get(slot).split(":")[1]);
  }

  /**
   * Whether whoever dials the last member of a cluster as its first one, with a secret, is answered
   * at all, be it with a failure. Does not wait to be let in before it asks.
   */
  public static boolean isAnswered(
      String cluster, List<String> members, String secret, String address, byte[] question)
      throws IOException {
    List<String> sorted = members.stream().sorted().toList();
    Identity first = new Identity(cluster, sorted, 0, "first", "1", 1);
    try (Impostor impostor = dial(sorted.size() - 1, first, secret)) {
      impostor.hello();
      Hello other = Hello.of(impostor.read().payload());
      impostor.write(Frame.PROOF, impostor.proof(true, other));
      impostor.say(new Message(Message.Kind.QUESTION, 1, address, question));
      return impostor.read(Frame.MESSAGE).frame() != null;
    }
  }

  void write(Frame frame, byte[] payload) throws IOException {
    try {
      out.writeInt(payload.length + 1);
      out.writeByte(frame.ordinal());
      out.write(payload);
      out.flush();
    } catch (SocketException e) {
      // closed by the other side, which reading shows
    }
  }

  void say(Message message) throws IOException {
    write(Frame.MESSAGE, message.toBytes());
  }

  Said read() throws IOException {
    try {
      byte[] payload = new byte[in.readInt() - 1];
      Frame frame = Frame.of(in.readByte());
      in.readFully(payload);
      return new Said(frame, payload);
    } catch (EOFException | SocketException e) {
      return new Said(null, new byte[0]);
    }
  }

  /** The next of a kind, whatever comes before it; of no kind where it does not come. */
  Said read(Frame wanted) throws IOException {
    Said said = read();
    while (said.frame() != null && said.frame() != wanted) {
      said = read();
    }
    return said;
  }

  void hello() throws IOException {
    write(Frame.HELLO, own.toBytes());
  }

  /** The right proof for whoever dialled, or was dialled, with its secret. */
  byte[] proof(boolean isDialler, Hello other) {
    return Greeting.proof(key, isDialler, isDialler ? own : other, isDialler ? other : own);
  }

  /** Greets the node that it has dialled; false where that does not let it in. */
  boolean enter() throws IOException {
    hello();
    Hello other = Hello.of(read().payload());
    read(Frame.PROOF);
    write(Frame.PROOF, proof(true, other));
    return isIn();
  }

  /** Greets the node that has dialled it. */
  boolean letIn() throws IOException {
    Hello other = Hello.of(read().payload());
    hello();
    write(Frame.PROOF, proof(false, other));
    return isIn();
  }

  /** Says something byte by byte, never silent for long. */
  boolean isPutOutWhileItWrites(byte[] bytes) throws Exception {
    try {
      for (byte each : bytes) {
        out.write(each);
        Thread.sleep(20);
      }
      return false;
    } catch (SocketException e) {
      return true;
    }
  }

  /** Members hear that a node is there, over and over. */
  boolean isIn() throws IOException {
    return read(Frame.ALIVE).frame() != null;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
