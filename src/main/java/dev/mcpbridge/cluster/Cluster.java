package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * The nodes of this bridge, as one of them sees them. Confined to the event loop.
 *
 * <p>A node may act as the owner of a server only while {@link #owner} says HERE, which is checked
 * anew before each call: behind it stands a lease, after whose end nothing is started any more, and
 * somewhat later everything that runs is stopped, before any other node starts it.
 */
public interface Cluster {

  /** {@link #owner} where this node has the part, and may act. */
  int HERE = -1;

  /** {@link #owner} where nobody has it, or this node has it and may not act. */
  int NOWHERE = -2;

  /**
   * Begins to take part.
   *
   * @param url where this node's API is
   */
  Future<Void> open(String url);

  /** Whether this is the only node there can be. */
  boolean isAlone();

  /** Which of the nodes this is. */
  int slot();

  /** Of this process, another one after each start. */
  long life();

  /** Whether a process is still part of this bridge. */
  boolean lives(int slot, long life);

  /** This node's name; null where it is alone. */
  String name();

  /**
   * What other bridges know this one by, the same at all nodes; null before this node has heard of
   * it. For any thread.
   */
  String bridge();

  /** The slot of the node that has a part of a server, or {@link #HERE}, or {@link #NOWHERE}. */
  int owner(InstanceId instanceId);

  OwnershipView owners();

  /** Whether this node has what a server asks for. */
  boolean fits(List<String> placement);

  /** The entries that all nodes share. */
  SharedMap map(String name);

  /** A node's name for people. */
  String name(int slot);

  /**
   * What this node is able to run; whatever of that it is to own it will be told of.
   *
   * @param here takes its orders from now on
   */
  Future<Void> offer(Set<InstanceId> parts, OwnershipListener here);

  /** What this node is to run now. */
  Set<InstanceId> mine();

  /** What this node has, and is to stop where it is not {@link #mine}. */
  Set<InstanceId> held();

  /** A part has stopped here: others may start it. */
  void stopped(InstanceId instanceId);

  /**
   * Gives up everything, which is stopped by {@link OwnershipListener} meanwhile, however long that
   * takes; then nothing is owned. Waits no longer where this node may not act any more.
   */
  Future<Void> leave();

  /** The next time that an owner, a connection or this node's right to act changes, or soon. */
  Future<Void> change();

  /** Asks the node in a slot. */
  Future<byte[]> ask(int slot, String address, byte[] body, long timeoutMillis);

  void tell(int slot, String topic, byte[] body);

  /** Tells all other nodes. */
  void tellAll(String topic, byte[] body);

  /** Whoever answers other nodes. */
  void serve(PeerListener peerListener);

  /** What is to be said of the cluster. */
  View view();

  /** Whether this node may begin anything at this moment; may be asked by any thread. */
  BooleanSupplier mayAct();

  /** Whether this node follows nobody for so long that waiting makes no sense. */
  boolean isCutOff();

  Future<Void> close();

  /** What the owner of servers is told. */
  interface OwnershipListener {
    /** {@link #mine} is another than before. */
    void changed();

    /** This node may not act any more: stop everything at once. */
    void stopAll();
  }

  /** Who hears what other nodes say. */
  interface PeerListener {
    /**
     * @param answer takes an answer, or else a failure, once
     */
    void asked(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer);

    void told(int slot, String topic, byte[] body);

    /** A node has connected, under this name: it has heard nothing yet. */
    void connected(int slot, String node);
  }

  /**
   * @param state {@code alone}, {@code joining}, {@code member}, {@code cut_off} or {@code leaving}
   * @param primary name of the node that orders decisions; null where none is known
   * @param members names of those that take part
   * @param moves how often something got another owner
   */
  record View(
      String state, String node, String primary, List<Member> members, long view, long moves) {}
}
