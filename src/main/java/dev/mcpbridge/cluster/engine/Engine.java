package dev.mcpbridge.cluster.engine;

import io.vertx.core.Future;
import java.util.List;
import java.util.Map;

/**
 * A store of small values that all nodes share. Changes are atomic and linearizable; reads are
 * served from this node's copy, which follows the store. Confined to the context that opened it.
 */
public interface Engine {

  /** The version of an absent entry. */
  long ABSENT = 0;

  /** The result of a commit that was not applied. */
  long CONFLICT = -1;

  /**
   * A value and its version.
   *
   * @param version new after each change, never used again
   * @param ageMillis how long it had been in the store when this node read it; approximate
   */
  record Entry(byte[] value, long version, long ageMillis) {}

  /**
   * A change of one entry on the condition that its version is the expected one.
   *
   * @param expected {@link #ABSENT} to create the entry
   * @param value null to remove the entry
   */
  record Change(String key, long expected, byte[] value) {}

  /** Receives changes of this node's copy. */
  interface Listener {
    /** The copy is complete, for the first time or after a time without the store. */
    void loaded();

    /**
     * @param entry null if it was removed
     */
    void changed(String key, Entry entry);
  }

  /**
   * The store as this node sees it.
   *
   * @param isConnected whether this node's server takes part and the copy is complete
   * @param leader number of the node that orders changes; -1 if unknown or not a node
   * @param term number of the leader's term
   */
  record Health(boolean isConnected, int leader, long term) {}

  /**
   * The servers whose majority decides, {@code host:port:port} by number; empty for servers that
   * the operator runs.
   */
  Map<Integer, String> voters();

  /**
   * Makes this node's server a voter; all others go on meanwhile.
   *
   * @param server as in {@link #voters}
   * @return fails with VOTERS_UNCHANGED if the store refuses
   */
  Future<Void> becomeVoter(int number, String server);

  /** Removes a voter, which may be lost; fails with VOTERS_UNCHANGED if the store refuses. */
  Future<Void> removeVoter(int number);

  /** Connects; the listener is told when the copy is complete. */
  void open(Listener listener);

  /**
   * Applies all changes or none.
   *
   * @return the new version of the changed entries, {@link #CONFLICT} if a version was not the
   *     expected one; fails with NO_QUORUM if the outcome is unknown after a few seconds
   */
  Future<Long> commit(List<Change> changes);

  /** Completes when the copy has every change that was committed before this call. */
  Future<Void> fence();

  /** An entry of the copy; null if absent. */
  Entry get(String key);

  /** The entries of the copy whose keys begin with a prefix, by the rest of their keys. */
  Map<String, Entry> children(String prefix);

  Health health();

  /** Closes the connection; blocks for a short time at most. */
  void close();
}
