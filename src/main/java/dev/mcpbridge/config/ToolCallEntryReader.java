package dev.mcpbridge.config;

import java.net.URI;
import java.nio.file.Path;

/** Reads an entry of type {@code toolcall}. Stateless. */
final class ToolCallEntryReader {
  private ToolCallEntryReader() {}

  static ToolCallSource read(Section entry) {
    URI url = HttpEntryReader.url(entry, "url");
    if (url == null && !entry.has("url")) {
      entry.report("url", "expected the URL to which tool calls are posted");
    }
    return new ToolCallSource(
        url == null ? URI.create("http://invalid") : url,
        tools(entry),
        HttpEntryReader.access(entry));
  }

  private static DocumentSource tools(Section entry) {
    boolean isInline = entry.node().path("tools").isArray();
    Path file = HttpEntryReader.file(entry, "toolsFile");
    URI url = HttpEntryReader.url(entry, "toolsUrl");
    int sources = (isInline ? 1 : 0) + (file == null ? 0 : 1) + (url == null ? 0 : 1);
    if (sources != 1) {
      entry.report("tools", "expected exactly one of tools (a list), toolsFile and toolsUrl");
    }
    if (file != null) {
      return new DocumentSource.LocalFile(file);
    }
    return url != null
        ? new DocumentSource.Url(url)
        : new DocumentSource.Inline(entry.node().path("tools").toString());
  }
}
