package dev.mcpbridge.config;

import java.net.URI;

/** Reads an entry of type {@code grpc}. Stateless. */
final class GrpcEntryReader {
  private GrpcEntryReader() {}

  static GrpcSource read(Section entry) {
    return new GrpcSource(
        origin(entry),
        HttpEntryReader.access(entry, null),
        HttpEntryReader.file(entry, "descriptorSet"),
        entry.globs("services"),
        entry.globs("excludeServices"),
        new GrpcSource.Streams(entry.flag("streaming"), entry.integer("maxMessages")),
        entry.seconds("refresh"));
  }

  /** The origin for HTTP/2: {@code grpcs} is https, {@code grpc} is http. */
  private static URI origin(Section entry) {
    if (!entry.has("url")) {
      entry.report("url", "expected the URL of the gRPC server, such as grpcs://host:443");
      return null;
    }
    URI url = HttpEntryReader.url(entry, "url");
    if (url == null) {
      return null;
    }
    boolean isOrigin = url.getRawPath().matches("/?") && url.getRawQuery() == null;
    if (!HttpEntryReader.isGrpc(url) || !isOrigin || url.getPort() < 0) {
      entry.report("url", "expected grpc:// or grpcs://, a host and a port, and no path");
      return null;
    }
    String scheme = url.getScheme().equalsIgnoreCase("grpcs") ? "https" : "http";
    return URI.create(scheme + "://" + url.getRawAuthority());
  }
}
