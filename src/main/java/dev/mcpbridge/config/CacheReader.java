package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.util.ArrayList;
import java.util.List;

/** Reads {@code cache} of an entry. Stateless. */
final class CacheReader {
  private CacheReader() {}

  /** Null if there is no such key. */
  static CacheConfig read(Section entry, ServerConfig.Isolation isolation) {
    if (!entry.has("cache")) {
      return null;
    }
    if (isolation != null) {
      entry.report("cache", "cannot be used with isolation: each caller has a server of its own");
    }
    Section cache = entry.section("cache");
    Section tools = cache.section("tools");
    List<CacheConfig.ToolRule> rules = new ArrayList<>();
    for (String pattern : tools.names()) {
      Section tool = tools.section(pattern);
      rules.add(
          new CacheConfig.ToolRule(
              new Glob(pattern), tool.seconds("ttl"), scope(tool.text("scope"))));
    }
    return new CacheConfig(
        rules, scope(cache.text("resources")), cache.flag("clearOnWrite"), cache.bytes("maxSize"));
  }

  private static CacheConfig.Scope scope(String text) {
    return switch (text) {
      case "shared" -> CacheConfig.Scope.SHARED;
      case "caller" -> CacheConfig.Scope.CALLER;
      default -> null;
    };
  }
}
