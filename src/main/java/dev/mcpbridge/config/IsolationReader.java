package dev.mcpbridge.config;

import java.util.Collection;
import java.util.List;

/** Reads which callers share a server. Stateless. */
final class IsolationReader {
  private IsolationReader() {}

  /** Each caller with credentials of its own has a connection of its own to an MCP server. */
  static ServerConfig.Isolation read(Section entry, UpstreamTarget target) {
    int maxSessions = entry.integer("maxSessions");
    long idle = entry.seconds("sessionIdle");
    boolean isForCallers =
        target instanceof RemoteTarget && target.oauth() != null && target.oauth().isForCallers();
    String isolation = entry.text("isolation", isForCallers ? "caller" : "shared");
    boolean isShared = isolation.equals("shared");
    if (isShared && isForCallers) {
      entry.report("isolation", "expected caller or session, since each caller has a credential");
    }
    if (!isShared && entry.integer("instances") > 1) {
      entry.report("instances", "expected 1, since each session has a process of its own");
    }
    return isShared
        ? null
        : new ServerConfig.Isolation(isolation.equals("caller"), maxSessions, idle);
  }

  /** Callers who cannot be told apart would use each other's credentials. */
  static void requireKnownCallers(Collection<ServerConfig> servers, List<ConfigProblem> problems) {
    for (ServerConfig server : servers) {
      OAuthConfig oauth = server.upstreamTarget().oauth();
      if (oauth != null && oauth.isForCallers()) {
        problems.add(
            new ConfigProblem(
                "mcpServers." + server.id() + ".oauth",
                "needs callers who can be told apart: add auth.keys or auth.issuers"));
      }
    }
  }

  /** Other clients that use the same file may have such a key for any server. */
  static void warnOfOAuth(Section entry, UpstreamTarget target, List<ConfigProblem> warnings) {
    if (entry.has("oauth") && target.oauth() == null) {
      warnings.add(
          new ConfigProblem(
              entry.pathOf("oauth"),
              "ignored: it is for entries with the url of an MCP server, and for openapi"));
    }
  }
}
