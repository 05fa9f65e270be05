package dev.mcpbridge.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.util.EnumSet;
import java.util.Set;

/**
 * An entry of a server that a rule can be about.
 *
 * @param name name of a tool or prompt, URI of a resource, or a URI template
 * @param normalizedUri the URI of a resource as it is compared with patterns; null if it is
 *     ambiguous, and for others
 * @param canonicalUri the same as many servers read it; null likewise
 * @param annotations hints of a tool, with the defaults of the specification; empty for others
 */
public record Item(
    ServerId server,
    Kind kind,
    String name,
    String normalizedUri,
    String canonicalUri,
    JsonNode annotations) {
  private static final ObjectNode NONE = Json.object();

  /** The kinds of entries, and what one can do with them. */
  public enum Kind {
    TOOL(Action.CALL, EnumSet.of(Action.CALL)),
    RESOURCE(Action.READ, EnumSet.of(Action.READ, Action.SUBSCRIBE, Action.COMPLETE)),
    TEMPLATE(Action.READ, EnumSet.of(Action.READ, Action.SUBSCRIBE, Action.COMPLETE)),
    PROMPT(Action.GET, EnumSet.of(Action.GET, Action.COMPLETE));

    private final Action use;
    private final Set<Action> uses;

    Kind(Action use, Set<Action> uses) {
      this.use = use;
      this.uses = uses;
    }

    /** What one mainly does with it. */
    Action use() {
      return use;
    }

    Set<Action> uses() {
      return uses;
    }
  }

  /** An entry without annotations, or with annotations that no rule asks for. */
  public static Item of(ServerId server, Kind kind, String name) {
    String normalized = kind == Kind.RESOURCE ? Uris.normalized(name) : null;
    String canonical = normalized == null ? null : Uris.canonical(name);
    return new Item(server, kind, name, normalized, canonical, NONE);
  }

  /**
   * A tool.
   *
   * @param hints its annotations as its server sent them; ignored unless they are an object
   */
  public static Item tool(ServerId server, String name, JsonNode hints) {
    ObjectNode annotations = Json.object();
    annotations.put("readOnlyHint", false);
    annotations.put("destructiveHint", true);
    annotations.put("idempotentHint", false);
    annotations.put("openWorldHint", true);
    if (hints instanceof ObjectNode given) {
      annotations.setAll(given);
    }
    return new Item(server, Kind.TOOL, name, null, null, annotations);
  }
}
