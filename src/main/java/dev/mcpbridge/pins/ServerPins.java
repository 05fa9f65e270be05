package dev.mcpbridge.pins;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * The pins of one server, and their form in the lock file and in the shared map. Immutable.
 *
 * @param all by name, sorted
 */
record ServerPins(Map<Name, Pin> all) {
  /** Of a server that has been seen, with nothing pinned. */
  static final ServerPins NONE = new ServerPins(Map.of());

  /** More definitions than these are not pinned. */
  static final int MAX_PINS = 20_000;

  /** Definitions are kept up to this size together; of more, only the digests. */
  private static final int MAX_KEPT_BYTES = 512 << 10;

  ServerPins {
    all = Collections.unmodifiableMap(new TreeMap<>(all));
  }

  Pin of(Name name) {
    return all.get(name);
  }

  /** These and the given ones, which replace those of the same name. */
  ServerPins with(Map<Name, Pin> more) {
    Map<Name, Pin> both = new TreeMap<>(all);
    both.putAll(more);
    return new ServerPins(both);
  }

  /**
   * These with the changes of an edited copy of them.
   *
   * @param before the copy before the change
   * @param after the copy after it
   */
  ServerPins edited(ServerPins before, ServerPins after) {
    Map<Name, Pin> edited = new TreeMap<>(all);
    before.all.keySet().stream()
        .filter(name -> !after.all.containsKey(name))
        .forEach(edited::remove);
    after.all.forEach(
        (name, pin) -> {
          if (!pin.equals(before.of(name))) {
            edited.put(name, pin);
          }
        });
    return new ServerPins(edited);
  }

  /** These and those of another copy: of two for one definition the later decision. */
  ServerPins merged(ServerPins other) {
    Map<Name, Pin> both = new TreeMap<>(all);
    other.all.forEach(
        (name, pin) ->
            both.merge(name, pin, (mine, theirs) -> theirs.isLaterThan(mine) ? theirs : mine));
    return new ServerPins(both);
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    int kept = 0;
    for (Map.Entry<Name, Pin> entry : all.entrySet()) {
      Name name = entry.getKey();
      Pin pin = entry.getValue();
      kept += pin.definition() == null ? 0 : pin.definition().length();
      ObjectNode written = write(pin, kept <= MAX_KEPT_BYTES);
      if (name.kind() == DefinitionKind.INSTRUCTIONS) {
        json.set(name.kind().section(), written);
      } else {
        json.withObjectProperty(name.kind().section()).set(name.text(), written);
      }
    }
    return json;
  }

  private static ObjectNode write(Pin pin, boolean withDefinition) {
    ObjectNode json = Json.object();
    json.put("digest", pin.digest());
    json.put(pin.isBlocked() ? "blocked" : "approved", pin.at());
    json.put("by", pin.by());
    if (withDefinition && pin.definition() != null) {
      json.set("definition", DigestVersion.tree(pin.definition()));
    }
    return json;
  }

  /**
   * @throws IOException with what is wrong and where
   */
  static ServerPins of(JsonNode json) throws IOException {
    require(json.isObject(), "expected an object");
    Map<Name, Pin> all = new TreeMap<>();
    for (DefinitionKind kind : DefinitionKind.values()) {
      JsonNode section = json.path(kind.section());
      require(section.isMissingNode() || section.isObject(), kind.section() + " is no object");
      if (kind == DefinitionKind.INSTRUCTIONS && section.isObject()) {
        all.put(new Name(kind, ""), read(kind.section(), section));
      } else {
        for (Map.Entry<String, JsonNode> entry : section.properties()) {
          String path = kind.section() + "." + entry.getKey();
          all.put(new Name(kind, entry.getKey()), read(path, entry.getValue()));
        }
      }
    }
    return new ServerPins(all);
  }

  private static Pin read(String path, JsonNode json) throws IOException {
    boolean isBlocked = json.has("blocked");
    JsonNode at = json.path(isBlocked ? "blocked" : "approved");
    require(
        json.path("digest").isTextual() && at.isTextual() && isBlocked != json.has("approved"),
        path + " needs digest and either approved or blocked");
    JsonNode definition = json.path("definition");
    return new Pin(
        isBlocked,
        json.path("digest").textValue(),
        definition.isTextual()
            ? JsonSlice.of(definition.textValue())
            : definition.isContainerNode() ? Json.slice(definition) : null,
        time(path, at.textValue()),
        json.path("by").asText());
  }

  private static String time(String path, String text) throws IOException {
    try {
      return Instant.parse(text).toString();
    } catch (DateTimeParseException e) {
      throw new IOException(path + " needs a time such as 2026-01-31T12:00:00Z", e);
    }
  }

  private static void require(boolean isTrue, String otherwise) throws IOException {
    if (!isTrue) {
      throw new IOException(otherwise);
    }
  }

  byte[] toBytes() {
    return Json.slice(toJson()).toBytes();
  }

  /** Reads what {@link #toBytes} has written. */
  static ServerPins of(byte[] own) {
    try {
      return of(Json.exactTree(own));
    } catch (IOException e) {
      throw new IllegalStateException("not written by this class", e);
    }
  }
}
