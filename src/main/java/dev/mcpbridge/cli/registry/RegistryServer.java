package dev.mcpbridge.cli.registry;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.HiddenCharacters;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;

/**
 * One version of a server as a registry describes it.
 *
 * @param document its {@code server.json} (schema of 2025-09-29 and later)
 * @param status {@code active}, {@code deprecated} or {@code deleted}; empty if it is not known
 */
public record RegistryServer(JsonNode document, String status) {
  private static final String OFFICIAL = "io.modelcontextprotocol.registry/official";

  /**
   * @param response a {@code server.json}, or an answer of a registry that contains one
   */
  static RegistryServer of(JsonNode response) {
    JsonNode document = response.path("server").isObject() ? response.path("server") : response;
    return new RegistryServer(
        document, line(response.path("_meta").path(OFFICIAL).path("status").asText("")));
  }

  public String name() {
    return line(document.path("name").asText(""));
  }

  public String version() {
    return line(document.path("version").asText(""));
  }

  public String description() {
    return line(document.path("description").asText(""));
  }

  /** How it can be used: types of packages, and {@code remote}. */
  public Set<String> kinds() {
    Set<String> kinds = new LinkedHashSet<>();
    document
        .path("packages")
        .forEach(each -> kinds.add(line(each.path("registryType").asText("?"))));
    if (!document.path("remotes").isEmpty()) {
      kinds.add("remote");
    }
    return kinds;
  }

  /** A text as one line, so that it looks like nothing that the program says itself. */
  static String line(String text) {
    return HiddenCharacters.escaped(text.replaceAll("[\\s\\p{Cntrl}]+", " ").strip());
  }

  boolean mentions(String words) {
    String text = (name() + ' ' + description()).toLowerCase(Locale.ROOT);
    return text.contains(words.toLowerCase(Locale.ROOT));
  }
}
