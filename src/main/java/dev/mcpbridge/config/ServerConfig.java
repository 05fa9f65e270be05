package dev.mcpbridge.config;

import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.Timeouts;
import dev.mcpbridge.protocol.Era;
import java.util.List;
import java.util.stream.Stream;

/**
 * A validated entry of {@code mcpServers}.
 *
 * @param pins null for those of all servers
 * @param isolation null if all callers share the server
 * @param sandboxPool null if it has no containers
 * @param cache null if no results are kept
 * @param placement labels that a node needs to run it
 * @param refusal why it is not started; null if it is
 * @param programDigest digest of what is started or called, regardless of its risk and supervision;
 *     differs for different programs
 * @param fingerprint equal exactly if two entries are equal; a reload compares it
 */
public record ServerConfig(
    ServerId id,
    UpstreamTarget upstreamTarget,
    RiskRules risk,
    PinRules pins,
    Timeouts timeouts,
    Supervision supervision,
    SessionSettings sessionSettings,
    Isolation isolation,
    SandboxPool sandboxPool,
    CacheConfig cache,
    List<String> placement,
    ServerState.Refused refusal,
    String programDigest,
    String fingerprint) {

  /** Texts that must not be shown when one of its processes writes them. */
  public List<String> secrets() {
    List<String> secrets = upstreamTarget == null ? List.of() : upstreamTarget.secrets();
    return sandboxPool == null
        ? secrets
        : Stream.concat(secrets.stream(), sandboxPool.container().secrets().stream()).toList();
  }

  /** The configuration of one instance, with its share of the containers. */
  public ServerConfig forInstance(int number) {
    int instances = supervision.instances();
    return instances == 1
        ? this
        : new ServerConfig(
            id,
            upstreamTarget,
            risk,
            pins,
            timeouts,
            supervision.ofOneInstance(),
            sessionSettings,
            isolation,
            sandboxPool == null ? null : sandboxPool.forInstance(number, instances),
            cache,
            placement,
            refusal,
            programDigest,
            fingerprint);
  }

  /**
   * How a server is kept running, and how many calls it gets. Times in milliseconds.
   *
   * @param instances number of instances
   * @param lazy whether it is started by the first call
   * @param maxInFlight concurrent calls of one instance
   * @param maxQueued queued calls of all callers
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
   * Settings of the MCP session with the server.
   *
   * @param forwardsRoots whether the server may request the roots of a client
   * @param logLevel set after the handshake; null for the server's default
   * @param removesHiddenCharacters whether invisible characters are removed from definitions
   */
  public record SessionSettings(
      Era era, boolean forwardsRoots, String logLevel, boolean removesHiddenCharacters) {}

  /**
   * Separate processes or connections, for servers that keep state or know their users.
   *
   * @param perCaller whether each caller has one; else each client session
   * @param maxSessions concurrent processes or connections
   * @param idleMillis after which an idle one ends
   */
  public record Isolation(boolean perCaller, int maxSessions, long idleMillis) {}
}
