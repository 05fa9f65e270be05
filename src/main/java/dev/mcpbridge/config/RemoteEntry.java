package dev.mcpbridge.config;

import java.net.URI;
import java.util.List;

/** Understands an entry with a {@code url} of an MCP server. Stateless. */
final class RemoteEntry {
  private static final List<String> HTTP_TYPES =
      List.of("http", "mcp", "streamable-http", "streamableHttp");

  private RemoteEntry() {}

  static RemoteTarget read(Section entry) {
    URI url = HttpEntries.url(entry, "url");
    return new RemoteTarget(
        url == null ? URI.create("http://invalid") : url, kind(entry), HttpEntries.access(entry));
  }

  private static RemoteTarget.Kind kind(Section entry) {
    String type = entry.text("type", "http");
    if (!HTTP_TYPES.contains(type) && !type.equals("sse")) {
      entry.complain("type", "expected http, mcp, sse, openapi or toolcall");
    }
    return type.equals("sse") ? RemoteTarget.Kind.SSE : RemoteTarget.Kind.HTTP;
  }
}
