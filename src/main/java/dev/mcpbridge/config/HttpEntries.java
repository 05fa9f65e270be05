package dev.mcpbridge.config;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the entries of all servers have that are reached over HTTP. Stateless. */
final class HttpEntries {
  private static final int MANY = 1_000;

  private HttpEntries() {}

  static HttpAccess access(Section entry) {
    return new HttpAccess(headers(entry), authority(entry.section("tls")));
  }

  /** Null where it is absent or wrong; the latter is complained about. */
  static URI url(Section entry, String key) {
    String text = entry.text(key, null);
    return text == null ? null : url(entry, key, text);
  }

  /** Without those that are wrong, which are complained about. */
  static List<URI> urls(Section entry, String key) {
    List<String> texts = entry.texts(key, MANY);
    List<URI> urls = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      URI url = url(entry, key + "[" + i + "]", texts.get(i));
      if (url != null) {
        urls.add(url);
      }
    }
    return List.copyOf(urls);
  }

  private static URI url(Section entry, String key, String text) {
    try {
      URI url = new URI(text);
      boolean http = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      if (http && url.getHost() != null && url.getUserInfo() == null && isPort(url.getPort())) {
        return url;
      }
    } catch (URISyntaxException e) {
      // refused below
    }
    entry.complain(key, "expected http:// or https://, a host, and no user");
    return null;
  }

  private static boolean isPort(int port) {
    return port == -1 || port > 0 && port < 65_536;
  }

  private static Map<String, Secret> headers(Section entry) {
    Map<String, Secret> headers = new LinkedHashMap<>();
    entry
        .textsByName("headers")
        .forEach(
            (name, value) -> {
              if (!isFieldName(name) || !isFieldValue(value)) {
                entry.complain("headers." + name, "not a header that a request can have");
              }
              headers.put(name, new Secret(value));
            });
    return headers;
  }

  /** RFC 9110 section 5.6.2. */
  static boolean isFieldName(String name) {
    return name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  }

  private static boolean isFieldValue(String value) {
    return value.chars().allMatch(c -> c >= 0x20 && c != 0x7F || c == '\t');
  }

  private static Path authority(Section tls) {
    tls.allowOnly(List.of("ca"));
    Path file = file(tls, "ca");
    if (file != null && Files.isReadable(file) && !holdsCertificates(file)) {
      tls.complain("ca", "expected a PEM file of certificates, found " + file);
    }
    return file;
  }

  private static boolean holdsCertificates(Path file) {
    try {
      byte[] text = Files.readAllBytes(file);
      return new String(text, StandardCharsets.ISO_8859_1).contains("-----BEGIN CERTIFICATE-----")
          && !CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(text))
              .isEmpty();
    } catch (IOException | CertificateException e) {
      return false;
    }
  }

  static Path file(Section section, String key) {
    String file = section.text(key, null);
    if (file == null) {
      return null;
    }
    Path path = Section.path(file);
    if (path == null || !Files.isReadable(path)) {
      section.complain(key, "cannot be read: " + file);
    }
    return path;
  }
}
