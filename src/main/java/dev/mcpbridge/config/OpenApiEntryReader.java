package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.HeaderAnnotations;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads an entry of type {@code openapi}. Stateless. */
final class OpenApiEntryReader {
  private OpenApiEntryReader() {}

  static OpenApiSource read(Section entry) {
    return new OpenApiSource(
        document(entry),
        HttpEntryReader.url(entry, "server"),
        HttpEntryReader.urls(entry, "servers"),
        HttpEntryReader.access(entry, OAuthReader.read(entry)),
        entry.has("include") ? selection(entry.section("include")) : null,
        selection(entry.section("exclude")),
        overrides(entry.section("tools")),
        credentials(entry),
        HttpEntryReader.url(entry, "authUrl"),
        entry.section("risk").flag("fromMethods"),
        entry.flag("outputSchemas"),
        entry.seconds("refresh"),
        (int) entry.bytes("largeResult"));
  }

  private static DocumentSource document(Section entry) {
    JsonNode inline =
        entry.node().path("document").isObject() ? entry.node().get("document") : null;
    DocumentSource document = HttpEntryReader.document(entry, inline, "file", "url");
    if (document == null) {
      entry.report("url", "expected exactly one of url, file and document (an object)");
    }
    return document;
  }

  private static OpenApiSource.OperationFilter selection(Section section) {
    return new OpenApiSource.OperationFilter(
        section.texts("tags"),
        section.globs("paths"),
        section.texts("methods"),
        section.globs("operations"));
  }

  private static Map<String, OpenApiSource.ToolOverride> overrides(Section tools) {
    Map<String, OpenApiSource.ToolOverride> overrides = new LinkedHashMap<>();
    for (String tool : tools.names()) {
      Section override = tools.section(tool);
      overrides.put(
          tool,
          new OpenApiSource.ToolOverride(override.text("name"), override.text("description")));
    }
    return overrides;
  }

  private static List<ApiCredential> credentials(Section entry) {
    return entry.sections("auth").stream().map(auth -> credential(auth.variant("type"))).toList();
  }

  private static ApiCredential credential(Section auth) {
    switch (auth.node().path("type").asText()) {
      case "apiKey":
        String name = auth.text("name", "");
        if (auth.has("name") && !HeaderAnnotations.isFieldName(name)) {
          auth.report("name", "not a valid name of a header, parameter or cookie");
        }
        return new ApiCredential.Key(auth.text("in"), name, secret(auth, "value"));
      case "basic":
        return new ApiCredential.Basic(auth.text("user", ""), secret(auth, "password"));
      case "oauth2":
        return new ApiCredential.ClientCredentials(
            HttpEntryReader.url(auth, "tokenUrl"),
            auth.text("clientId"),
            secret(auth, "clientSecret"),
            auth.text("scope"));
      case "bearer":
        return new ApiCredential.Bearer(secret(auth, "token"));
      default:
        return new ApiCredential.Bearer(new Secret(""));
    }
  }

  private static Secret secret(Section auth, String key) {
    String value = auth.text(key, "");
    if (value.chars().anyMatch(c -> c < 0x20 || c == 0x7F)) {
      auth.report(key, "contains a control character");
    }
    return new Secret(value);
  }
}
