package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * A node's view of the cluster. Confined to the event loop, except where noted.
 *
 * <p>A node may act as the owner of a server only while {@link #owner} returns HERE, which is
 * checked before each call. Ownership requires a lease. When the lease ends, the node starts
 * nothing new, and after a grace period it stops everything, before another node may start it.
 */
public interface Cluster {

  /** {@link #owner} if this node owns the instance and holds a lease. */
  int THIS_NODE = -1;

  /** {@link #owner} if there is no owner, or if this node owns it without holding a lease. */
  int NO_OWNER = -2;

  /**
   * Joins the cluster.
   *
   * @param url URL of this node's API
   */
  Future<Void> open(String url);

  /** Whether the bridge runs as a single node. */
  boolean isAlone();

  /** The index of this node in the list of members. */
  int slot();

  /** The incarnation of this process, which differs after each start. */
  long incarnation();

  /** Whether a process is still a member of the cluster. */
  boolean isAlive(int slot, long life);

  /** This node's name; null for a single node. */
  String name();

  /**
   * The id of the bridge towards other bridges, the same at all nodes; null until this node has
   * received it. Thread-safe.
   */
  String bridge();

  /** The slot of the node that owns an instance, {@link #THIS_NODE} or {@link #NO_OWNER}. */
  int owner(InstanceId instanceId);

  /** Returns whether {@link #owner} of an instance is {@link #THIS_NODE} now. Thread-safe. */
  BooleanSupplier mayRun(InstanceId instanceId);

  OwnershipView owners();

  /** Whether this node has all labels that a server requires. */
  boolean fits(List<String> placement);

  /** A key of 32 bytes for one purpose, the same at all nodes. */
  byte[] key(String purpose);

  /** The map of this name that is shared by all nodes. */
  SharedMap map(String name);

  /** The display name of a node. */
  String name(int slot);

  /**
   * Declares the instances that this node can run. The listener is notified when ownership changes.
   */
  Future<Void> offer(Set<InstanceId> instances, OwnershipListener listener);

  /** The instances that this node should run now. */
  Set<InstanceId> assigned();

  /** The instances that this node owns; those that are not {@link #assigned} must be stopped. */
  Set<InstanceId> owned();

  /** Releases an instance that has stopped on this node, so that other nodes may start it. */
  void stopped(InstanceId instanceId);

  /**
   * Leaves the cluster. Completes when the {@link OwnershipListener} has stopped all instances and
   * this node owns nothing, or when it has lost its lease. There is no timeout.
   */
  Future<Void> leave();

  /** Completes when an owner, a connection or this node's lease changes, or after a short time. */
  Future<Void> change();

  /** Sends a request to the node in a slot. */
  Future<byte[]> ask(int slot, String address, byte[] body, long timeoutMillis);

  void tell(int slot, String topic, byte[] body);

  /** Sends a message to all other nodes. */
  void tellAll(String topic, byte[] body);

  /** Sets the listener for requests and messages of other nodes. */
  void serve(PeerListener peerListener);

  /** The state of the cluster for the API. */
  View view();

  /**
   * Makes a member one of the nodes whose majority decides, or no longer.
   *
   * @param node name or address of the member
   * @return fails with a BridgeException if there is no such member, or the cluster refuses
   */
  Future<Void> setVoter(String node, boolean isVoter);

  /** Returns whether this node holds a lease now. Thread-safe. */
  BooleanSupplier mayAct();

  /** Whether this node has had no lease for so long that callers should not wait for one. */
  boolean isCutOff();

  Future<Void> close();

  /** Receives changes of what this node should run. */
  interface OwnershipListener {
    /** {@link #assigned} has changed. */
    void changed();

    /** This node has lost its lease: stop everything immediately. */
    void stopAll();
  }

  /** Receives requests and messages of other nodes. */
  interface PeerListener {
    /**
     * @param answer callback for the response, or else the failure; called once
     */
    void onRequest(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer);

    void onMessage(int slot, String topic, byte[] body);

    /** A node with this name has connected; it has no state yet. */
    void connected(int slot, String node);
  }

  /**
   * @param state {@code alone}, {@code joining}, {@code member}, {@code cut_off} or {@code leaving}
   * @param primary name of the node that orders commands; null if unknown
   * @param view number of the primary's term
   * @param moves number of times that an instance got another owner
   * @param voters addresses of the nodes whose majority decides; empty if no node does
   */
  record View(
      String state,
      String node,
      String primary,
      List<Member> members,
      long view,
      long moves,
      List<String> voters) {}
}
