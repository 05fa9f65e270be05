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

/** Reads the keys that the entries of all HTTP servers share. Stateless. */
final class HttpEntryReader {
  private HttpEntryReader() {}

  static HttpAccess access(Section entry) {
    return new HttpAccess(headers(entry), authority(entry.section("tls")));
  }

  /** Null if absent or invalid; an invalid URL is reported. */
  static URI url(Section entry, String key) {
    String text = entry.text(key);
    return text == null ? null : url(entry, key, text);
  }

  /** Omits invalid URLs, which are reported. */
  static List<URI> urls(Section entry, String key) {
    List<String> texts = entry.texts(key);
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
      boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      if (isHttp && url.getHost() != null && url.getUserInfo() == null && isPort(url.getPort())) {
        return url;
      }
    } catch (URISyntaxException e) {
      // reported below
    }
    entry.report(key, "expected http:// or https://, a host, and no user");
    return null;
  }

  private static boolean isPort(int port) {
    return port == -1 || port > 0 && port < 65_536;
  }

  private static Map<String, Secret> headers(Section entry) {
    Map<String, Secret> headers = new LinkedHashMap<>();
    entry
        .textMap("headers")
        .forEach(
            (name, value) -> {
              if (!isFieldName(name) || !isFieldValue(value)) {
                entry.report("headers." + name, "not a valid request header");
              }
              headers.put(name, new Secret(value));
            });
    return headers;
  }

  /** Whether it is a token of RFC 9110 section 5.6.2. */
  static boolean isFieldName(String name) {
    return name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  }

  private static boolean isFieldValue(String value) {
    return value.chars().allMatch(c -> c >= 0x20 && c != 0x7F || c == '\t');
  }

  private static Path authority(Section tls) {
    Path file = file(tls, "ca");
    if (file != null && Files.isReadable(file) && !holdsCertificates(file)) {
      tls.report("ca", "expected a PEM file with certificates, found " + file);
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

  /** Null if absent; a file that cannot be read is reported. */
  static Path file(Section section, String key) {
    String file = section.text(key);
    if (file == null) {
      return null;
    }
    Path path = Section.path(file);
    if (path == null || !Files.isReadable(path)) {
      section.report(key, "cannot be read: " + file);
    }
    return path;
  }
}
