package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
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
import java.util.List;

/** Reads the entries of servers that are reached over HTTP, and the keys they share. Stateless. */
final class HttpEntryReader {
  private static final List<String> HTTP_TYPES =
      List.of("http", "mcp", "streamable-http", "streamableHttp");

  private HttpEntryReader() {}

  /** An entry with the {@code url} of an MCP server. */
  static RemoteTarget remote(Section entry) {
    String type = entry.text("type", "http");
    if (!HTTP_TYPES.contains(type) && !type.equals("sse")) {
      entry.report("type", "expected http, mcp, sse, openapi, toolcall or grpc");
    }
    return new RemoteTarget(
        url(entry, "url"),
        type.equals("sse") ? RemoteTarget.Kind.SSE : RemoteTarget.Kind.HTTP,
        access(entry, OAuthReader.read(entry)));
  }

  /** An entry of type {@code toolcall}. */
  static ToolCallSource toolCall(Section entry) {
    if (!entry.has("url")) {
      entry.report("url", "expected the URL to which tool calls are posted");
    }
    JsonNode inline = entry.node().path("tools").isArray() ? entry.node().get("tools") : null;
    DocumentSource tools = document(entry, inline, "toolsFile", "toolsUrl");
    if (tools == null) {
      entry.report("tools", "expected exactly one of tools (a list), toolsFile and toolsUrl");
    }
    return new ToolCallSource(
        url(entry, "url"),
        tools,
        access(entry, null),
        entry.integer("callsPerRequest", 1),
        Math.max(1, entry.seconds("collect")));
  }

  /**
   * The document of an entry; null unless exactly one of the keys is present and valid.
   *
   * @param inline the document itself; null if the entry does not contain it
   */
  static DocumentSource document(Section entry, JsonNode inline, String file, String url) {
    List<DocumentSource> sources = new ArrayList<>();
    if (inline != null) {
      sources.add(new DocumentSource.Inline(inline.toString()));
    }
    Path path = file(entry, file);
    if (path != null) {
      sources.add(new DocumentSource.LocalFile(path));
    }
    URI uri = url(entry, url);
    if (uri != null) {
      sources.add(new DocumentSource.Url(uri));
    }
    return sources.size() == 1 ? sources.get(0) : null;
  }

  static HttpAccess access(Section entry, OAuthConfig oauth) {
    Section tls = entry.section("tls");
    return new HttpAccess(entry.headers("headers"), authority(tls), identity(tls), oauth);
  }

  /** The certificate with which the bridge identifies itself; null if absent. */
  private static HttpAccess.ClientCertificate identity(Section tls) {
    if (tls.has("cert") != tls.has("key")) {
      tls.report(tls.has("cert") ? "cert" : "key", "expected both cert and key");
      return null;
    }
    return tls.has("cert")
        ? new HttpAccess.ClientCertificate(file(tls, "cert"), file(tls, "key"))
        : null;
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
    boolean isGrpcEntry = entry.node().path("type").asText().equals("grpc") && key.equals("url");
    if (isUrl(text) && isGrpc(URI.create(text)) == isGrpcEntry) {
      return URI.create(text);
    }
    entry.report(
        key,
        "expected "
            + (isGrpcEntry ? "grpc:// or grpcs://" : "http:// or https://")
            + ", a host, and no user");
    return null;
  }

  /** Whether a text is a URL with a host and without a user. */
  static boolean isUrl(String text) {
    try {
      URI url = new URI(text);
      return url.getHost() != null && url.getUserInfo() == null && isPort(url.getPort());
    } catch (URISyntaxException e) {
      return false;
    }
  }

  /** Whether a URL is that of a gRPC server. */
  static boolean isGrpc(URI url) {
    return "grpc".equalsIgnoreCase(url.getScheme()) || "grpcs".equalsIgnoreCase(url.getScheme());
  }

  private static boolean isPort(int port) {
    return port == -1 || port > 0 && port < 65_536;
  }

  /** The PEM file with trusted certificates of a section; null if absent. */
  static Path authority(Section tls) {
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
