package dev.mcpbridge.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Understands an entry with a {@code url}. Stateless. */
final class RemoteEntry {
  private static final List<String> HTTP_TYPES =
      List.of("http", "streamable-http", "streamableHttp");
  private static final Remote NOWHERE =
      new Remote(URI.create("http://invalid"), Remote.Kind.HTTP, Map.of(), null);

  private RemoteEntry() {}

  static Remote read(Section entry) {
    URI url = url(entry);
    Remote.Kind kind = kind(entry);
    return url == null || kind == null
        ? NOWHERE
        : new Remote(url, kind, headers(entry), authority(entry.section("tls")));
  }

  private static URI url(Section entry) {
    String text = entry.text("url", "");
    try {
      URI url = new URI(text);
      boolean http = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      if (http && url.getHost() != null && url.getUserInfo() == null) {
        return url;
      }
    } catch (URISyntaxException e) {
      // refused below
    }
    entry.complain("url", "expected http:// or https://, a host, and no user");
    return null;
  }

  private static Remote.Kind kind(Section entry) {
    String type = entry.text("type", "http");
    if (HTTP_TYPES.contains(type)) {
      return Remote.Kind.HTTP;
    }
    if (type.equals("sse")) {
      return Remote.Kind.SSE;
    }
    entry.complain("type", "expected http or sse");
    return null;
  }

  private static Map<String, Secret> headers(Section entry) {
    Map<String, Secret> headers = new LinkedHashMap<>();
    entry
        .textsByName("headers")
        .forEach(
            (name, value) -> {
              if (!name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+") || !isFieldValue(value)) {
                entry.complain("headers." + name, "not a header that a request can have");
              }
              headers.put(name, new Secret(value));
            });
    return headers;
  }

  private static boolean isFieldValue(String value) {
    return value.chars().allMatch(c -> c >= 0x20 && c != 0x7F || c == '\t');
  }

  private static Path authority(Section tls) {
    tls.allowOnly(List.of("ca"));
    String file = tls.text("ca", null);
    if (file != null && !Files.isReadable(Path.of(file))) {
      tls.complain("ca", "cannot be read: " + file);
    }
    return file == null ? null : Path.of(file);
  }
}
