package dev.mcpbridge.config;

import dev.mcpbridge.model.ServerId;
import java.util.List;
import java.util.Map;

/**
 * Everything the operator said.
 *
 * @param cluster null for a node that is the whole bridge
 * @param servers in the order of the file
 * @param drainMillis how long calls in flight may go on when their server is stopped
 * @param warnings what was read and has no effect
 */
public record BridgeConfig(
    HttpConfig http,
    AuthConfig auth,
    RiskConfig risk,
    LimitsConfig limits,
    SandboxConfig sandbox,
    ClusterConfig cluster,
    Map<ServerId, ServerConfig> servers,
    long drainMillis,
    List<ConfigProblem> warnings) {

  /** Whether callers can be told apart: by their keys, or by the machines that they come from. */
  public boolean hasSeveralCallers() {
    return auth.keys().isEmpty() ? !http.isLoopback() : auth.keys().size() > 1;
  }

  public BridgeConfig withAuth(AuthConfig other) {
    return new BridgeConfig(
        http, other, risk, limits, sandbox, cluster, servers, drainMillis, warnings);
  }

  public BridgeConfig withHttp(HttpConfig other) {
    return new BridgeConfig(
        other, auth, risk, limits, sandbox, cluster, servers, drainMillis, warnings);
  }

  public BridgeConfig withCluster(ClusterConfig other) {
    return new BridgeConfig(
        http, auth, risk, limits, sandbox, other, servers, drainMillis, warnings);
  }
}
