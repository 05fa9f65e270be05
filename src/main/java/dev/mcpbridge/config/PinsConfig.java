package dev.mcpbridge.config;

import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.PinRules.Reaction;
import dev.mcpbridge.model.ServerId;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Configuration of pins.
 *
 * @param file the lock file; null to keep pins in memory only
 * @param rules for servers without rules of their own
 * @param servers rules of servers
 */
public record PinsConfig(Path file, PinRules rules, Map<ServerId, PinRules> servers) {

  /** The rules for a server. */
  public PinRules of(ServerId server) {
    return servers.getOrDefault(server, rules);
  }

  PinsConfig withDefaultFile(Path defaultFile) {
    return file == null ? new PinsConfig(defaultFile, rules, servers) : this;
  }

  static PinsConfig read(Section pins, Map<ServerId, ServerConfig> servers) {
    String file = pins.text("file");
    if (file != null && Section.path(file) == null) {
      pins.report("file", "not a valid path");
    }
    Map<ServerId, PinRules> own = new HashMap<>();
    servers
        .values()
        .forEach(
            server -> {
              if (server.pins() != null) {
                own.put(server.id(), server.pins());
              }
            });
    return new PinsConfig(file == null ? null : Section.path(file), rules(pins), Map.copyOf(own));
  }

  /** The rules of a section. */
  static PinRules rules(Section pins) {
    PinRules rules =
        new PinRules(
            reaction(pins, "changed"), reaction(pins, "new"), !pins.text("first").equals("ask"));
    if (!rules.trustsFirst() && rules.added() != Reaction.BLOCK) {
      pins.report("first", "ask holds definitions without a pin, so it needs new: block");
    }
    return rules;
  }

  private static Reaction reaction(Section pins, String key) {
    return Reaction.valueOf(pins.text(key).toUpperCase(Locale.ROOT));
  }
}
