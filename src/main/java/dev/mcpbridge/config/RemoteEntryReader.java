package dev.mcpbridge.config;

import java.net.URI;
import java.util.List;

/** Reads an entry with the {@code url} of an MCP server. Stateless. */
final class RemoteEntryReader {
  private static final List<String> HTTP_TYPES =
      List.of("http", "mcp", "streamable-http", "streamableHttp");

  private RemoteEntryReader() {}

  static RemoteTarget read(Section entry) {
    URI url = HttpEntryReader.url(entry, "url");
    return new RemoteTarget(
        url == null ? URI.create("http://invalid") : url,
        kind(entry),
        HttpEntryReader.access(entry));
  }

  private static RemoteTarget.Kind kind(Section entry) {
    String type = entry.text("type", "http");
    if (!HTTP_TYPES.contains(type) && !type.equals("sse")) {
      entry.report("type", "expected http, mcp, sse, openapi or toolcall");
    }
    return type.equals("sse") ? RemoteTarget.Kind.SSE : RemoteTarget.Kind.HTTP;
  }
}
