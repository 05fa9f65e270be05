package dev.mcpbridge.config;

import dev.mcpbridge.access.AccessRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.profile.Profiles;
import dev.mcpbridge.quota.QuotaRule;
import dev.mcpbridge.quota.UrgencyRule;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The validated configuration.
 *
 * @param audit null without an audit trail
 * @param agent null if no model is offered
 * @param cluster null for a bridge that is not part of a cluster
 * @param servers in the order of the file
 * @param drainMillis how long calls in flight may continue after their server is told to stop
 * @param digest SHA-256 of the text that it was read from, in hexadecimal digits
 * @param warnings problems that do not prevent the start
 */
public record BridgeConfig(
    HttpConfig http,
    AuthConfig auth,
    AccessRules access,
    List<QuotaRule> quotas,
    List<UrgencyRule> priorities,
    Profiles profiles,
    CredentialsConfig credentials,
    RiskConfig risk,
    PinsConfig pins,
    AuditConfig audit,
    TelemetryConfig telemetry,
    List<WebhookConfig> webhooks,
    AgentConfig agent,
    LimitsConfig limits,
    ThreadsConfig threads,
    SandboxConfig sandbox,
    ClusterConfig cluster,
    Map<ServerId, ServerConfig> servers,
    long drainMillis,
    String digest,
    List<ConfigProblem> warnings) {

  /** Whether callers can be distinguished: by key or token or, without them, by client address. */
  public boolean hasSeveralCallers() {
    if (auth.program() != null) {
      return true;
    }
    return auth.isRequired()
        ? auth.keys().size() > 1 || !auth.issuers().isEmpty()
        : !http.isLoopback();
  }

  public BridgeConfig withAuth(AuthConfig newAuth) {
    return with(http, newAuth, pins, cluster);
  }

  public BridgeConfig withHttp(HttpConfig newHttp) {
    return with(newHttp, auth, pins, cluster);
  }

  public BridgeConfig withCluster(ClusterConfig newCluster) {
    return with(http, auth, pins, newCluster);
  }

  /** Keeps pins in a file, unless the configuration names another one. */
  public BridgeConfig withLockFile(Path file) {
    return with(http, auth, pins.withDefaultFile(file), cluster);
  }

  private BridgeConfig with(
      HttpConfig newHttp, AuthConfig newAuth, PinsConfig newPins, ClusterConfig newCluster) {
    return new BridgeConfig(
        newHttp,
        newAuth,
        access,
        quotas,
        priorities,
        profiles,
        credentials,
        risk,
        newPins,
        audit,
        telemetry,
        webhooks,
        agent,
        limits,
        threads,
        sandbox,
        newCluster,
        servers,
        drainMillis,
        digest,
        warnings);
  }
}
