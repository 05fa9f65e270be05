package dev.mcpbridge.access;

import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the callers may do for whom the same rules count: shared by all of them. Confined to the
 * event loop of the doors.
 */
public final class Rights {
  private static final int MAX_SERVERS = 10_000;

  private final boolean allowsByDefault;
  private final boolean seesAllServers;
  private final List<Rule> allowing;
  private final List<Rule> lacking;
  private final List<Rule> denying;
  private final Map<String, ServerRights> servers = new BoundedMap<>(MAX_SERVERS);

  /**
   * @param allowsByDefault whether what no rule is about is allowed
   * @param seesAllServers whether a server is shown even if nothing of it may be used
   * @param allowing rules that allow something
   * @param lacking rules that would, if a token had more scopes
   * @param denying rules that deny something
   */
  Rights(
      boolean allowsByDefault,
      boolean seesAllServers,
      List<Rule> allowing,
      List<Rule> lacking,
      List<Rule> denying) {
    this.allowsByDefault = allowsByDefault;
    this.seesAllServers = seesAllServers;
    this.allowing = allowing;
    this.lacking = lacking;
    this.denying = denying;
  }

  boolean allowsByDefault() {
    return allowsByDefault;
  }

  boolean seesAllServers() {
    return seesAllServers;
  }

  List<Rule> allowing() {
    return allowing;
  }

  List<Rule> lacking() {
    return lacking;
  }

  List<Rule> denying() {
    return denying;
  }

  boolean dependsOnAnnotations() {
    return Stream.of(allowing, lacking, denying)
        .flatMap(List::stream)
        .anyMatch(rule -> !rule.items().annotations().isEmpty());
  }

  /** The rules that may be about entries of a kind at a server. */
  Rights about(ServerId server, Item.Kind kind) {
    return new Rights(
        allowsByDefault,
        seesAllServers,
        about(allowing, server, kind),
        about(lacking, server, kind),
        about(denying, server, kind));
  }

  private static List<Rule> about(List<Rule> rules, ServerId server, Item.Kind kind) {
    return rules.stream().filter(rule -> rule.isAbout(server, kind)).toList();
  }

  /** The rights at a server with its present catalogue. */
  public ServerRights at(ServerView server) {
    ServerRights known = servers.get(server.id().name());
    if (known == null || !known.isOf(server)) {
      known = new ServerRights(this, server);
      servers.put(server.id().name(), known);
    }
    return known;
  }
}
