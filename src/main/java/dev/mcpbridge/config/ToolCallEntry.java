package dev.mcpbridge.config;

import java.net.URI;
import java.nio.file.Path;

/** Understands an entry of the type {@code toolcall}. Stateless. */
final class ToolCallEntry {
  private ToolCallEntry() {}

  static ToolCallSource read(Section entry) {
    URI url = HttpEntries.url(entry, "url");
    if (url == null && !entry.has("url")) {
      entry.complain("url", "expected where tool calls are posted to");
    }
    return new ToolCallSource(
        url == null ? URI.create("http://invalid") : url, tools(entry), HttpEntries.access(entry));
  }

  private static DocumentSource tools(Section entry) {
    boolean isInline = entry.node().path("tools").isArray();
    Path file = HttpEntries.file(entry, "toolsFile");
    URI url = HttpEntries.url(entry, "toolsUrl");
    int given = (isInline ? 1 : 0) + (file == null ? 0 : 1) + (url == null ? 0 : 1);
    if (given != 1) {
      entry.complain("tools", "expected one of tools (a list), toolsFile and toolsUrl");
    }
    if (file != null) {
      return new DocumentSource.LocalFile(file);
    }
    return url != null
        ? new DocumentSource.Url(url)
        : new DocumentSource.Inline(entry.node().path("tools").toString());
  }
}
