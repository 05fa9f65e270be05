package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Understands an entry of the type {@code openapi}. Stateless. */
final class OpenApiEntry {
  static final List<String> KEYS =
      List.of(
          "file",
          "document",
          "server",
          "servers",
          "include",
          "exclude",
          "auth",
          "authUrl",
          "refresh",
          "largeResult",
          "outputSchemas");

  private static final int MANY = 10_000;

  private OpenApiEntry() {}

  static OpenApiSource read(Section entry) {
    return new OpenApiSource(
        document(entry),
        HttpEntries.url(entry, "server"),
        HttpEntries.urls(entry, "servers"),
        HttpEntries.access(entry),
        entry.has("include") ? selection(entry.section("include")) : null,
        selection(entry.section("exclude")),
        overrides(entry.section("tools")),
        credentials(entry),
        HttpEntries.url(entry, "authUrl"),
        entry.section("risk").flag("fromMethods", false),
        entry.flag("outputSchemas", true),
        entry.seconds("refresh", 300, 1, 86_400 * 30),
        (int) entry.bytes("largeResult", "100k", 1_000, 16 << 20));
  }

  private static DocumentSource document(Section entry) {
    boolean isInline = entry.node().path("document").isObject();
    Path file = HttpEntries.file(entry, "file");
    URI url = HttpEntries.url(entry, "url");
    int given = (isInline ? 1 : 0) + (file == null ? 0 : 1) + (url == null ? 0 : 1);
    if (given != 1) {
      entry.complain("url", "expected one of url, file and document (an object)");
    }
    if (file != null) {
      return new DocumentSource.LocalFile(file);
    }
    return url != null
        ? new DocumentSource.Url(url)
        : new DocumentSource.Inline(entry.node().path("document").toString());
  }

  private static OpenApiSource.Selection selection(Section section) {
    section.allowOnly(List.of("tags", "paths", "methods", "operations"));
    return new OpenApiSource.Selection(
        section.texts("tags", MANY),
        globs(section, "paths"),
        section.texts("methods", MANY),
        globs(section, "operations"));
  }

  private static List<Glob> globs(Section section, String key) {
    return section.texts(key, MANY).stream().map(Glob::new).toList();
  }

  private static Map<String, OpenApiSource.Override> overrides(Section tools) {
    Map<String, OpenApiSource.Override> overrides = new LinkedHashMap<>();
    tools.each(
        (tool, value) -> {
          Section words = tools.section(tool);
          String name = words.text("name", null);
          if (name != null && !name.matches("[A-Za-z0-9_-]{1,64}")) {
            words.complain("name", "expected 1 to 64 of A-Z, a-z, 0-9, _ and -");
          }
          overrides.put(tool, new OpenApiSource.Override(name, words.text("description", null)));
        });
    return overrides;
  }

  private static List<ApiCredential> credentials(Section entry) {
    List<ApiCredential> credentials = new ArrayList<>();
    int count = entry.node().path("auth").isArray() ? entry.node().path("auth").size() : 0;
    for (int i = 0; i < count; i++) {
      credentials.add(credential(entry.element("auth", i)));
    }
    if (count == 0 && entry.has("auth")) {
      credentials.add(credential(entry.section("auth")));
    }
    return credentials;
  }

  private static ApiCredential credential(Section auth) {
    String type = auth.oneOf("type", "none", "apiKey", "basic", "bearer", "oauth2");
    switch (type) {
      case "apiKey":
        auth.allowOnly(List.of("type", "in", "name", "value"));
        String name = needed(auth, "name");
        if (!HttpEntries.isFieldName(name)) {
          auth.complain("name", "not a name that a header, a parameter or a cookie can have");
        }
        return new ApiCredential.Key(
            auth.oneOf("in", "header", "header", "query", "cookie"), name, secret(auth, "value"));
      case "basic":
        auth.allowOnly(List.of("type", "user", "password"));
        return new ApiCredential.Basic(needed(auth, "user"), secret(auth, "password"));
      case "oauth2":
        auth.allowOnly(List.of("type", "tokenUrl", "clientId", "clientSecret", "scope"));
        URI tokenUrl = HttpEntries.url(auth, "tokenUrl");
        if (tokenUrl == null && !auth.has("tokenUrl")) {
          auth.complain("tokenUrl", "expected where tokens are given out");
        }
        return new ApiCredential.ClientCredentials(
            tokenUrl,
            needed(auth, "clientId"),
            secret(auth, "clientSecret"),
            auth.text("scope", null));
      case "bearer":
        auth.allowOnly(List.of("type", "token"));
        return new ApiCredential.Bearer(secret(auth, "token"));
      default:
        auth.complain("type", "expected one of apiKey, basic, bearer, oauth2");
        return new ApiCredential.Bearer(new Secret(""));
    }
  }

  private static Secret secret(Section auth, String key) {
    String value = needed(auth, key);
    if (value.chars().anyMatch(c -> c < 0x20 || c == 0x7F)) {
      auth.complain(key, "holds a control character");
    }
    return new Secret(value);
  }

  private static String needed(Section auth, String key) {
    String value = auth.text(key, "");
    if (value.isEmpty()) {
      auth.complain(key, "expected a text");
    }
    return value;
  }
}
