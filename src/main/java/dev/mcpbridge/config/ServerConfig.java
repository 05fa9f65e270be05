package dev.mcpbridge.config;

import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.Timeouts;
import dev.mcpbridge.protocol.Era;
import java.util.List;

/**
 * One entry of {@code mcpServers}, understood.
 *
 * @param isolation null where all callers share the server
 * @param sandboxPool null where it has no containers
 * @param placement labels that a node needs to run it
 * @param refusal why it will not be started, null where it will
 * @param program a digest of what runs or is called, and nothing of how it is kept alive or how
 *     risky it is: another one for another program
 * @param fingerprint equal exactly when two entries say the same; a reload goes by it
 */
public record ServerConfig(
    ServerId id,
    UpstreamTarget upstreamTarget,
    RiskRules risk,
    Timeouts timeouts,
    Supervision supervision,
    Conversation conversation,
    Isolation isolation,
    SandboxPool sandboxPool,
    List<String> placement,
    ServerState.Refused refusal,
    String program,
    String fingerprint) {

  /** One of its instances by itself, with its share of the containers. */
  public ServerConfig instance(int number) {
    int instances = supervision.instances();
    return instances == 1
        ? this
        : new ServerConfig(
            id,
            upstreamTarget,
            risk,
            timeouts,
            supervision.ofOneInstance(),
            conversation,
            isolation,
            sandboxPool == null ? null : sandboxPool.share(number, instances),
            placement,
            refusal,
            program,
            fingerprint);
  }

  /**
   * How a server is kept alive and how much it is given to do. Times in milliseconds.
   *
   * @param instances processes behind one name
   * @param lazy start at the first call and not at once
   * @param maxInFlight calls at one instance at a time
   * @param maxQueued calls that wait for their turn, over all callers
   */
  public record Supervision(
      int instances,
      boolean lazy,
      long startTimeout,
      long heartbeat,
      long maxRestartDelay,
      int maxInFlight,
      int maxQueued) {

    private Supervision ofOneInstance() {
      return new Supervision(
          1, lazy, startTimeout, heartbeat, maxRestartDelay, maxInFlight, maxQueued);
    }
  }

  /**
   * What is agreed on with the server.
   *
   * @param takesRoots whether it may ask a client for the folders to work in
   * @param logLevel asked of the server after the handshake, null for its own
   * @param removesHidden whether characters that people do not see are taken out of definitions
   */
  public record Conversation(Era era, boolean takesRoots, String logLevel, boolean removesHidden) {}

  /**
   * A server of their own for those who call, since it keeps state.
   *
   * @param maxSessions that run at a time
   * @param idleMillis after which one that is not used ends
   */
  public record Isolation(int maxSessions, long idleMillis) {}
}
