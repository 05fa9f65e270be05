package dev.mcpbridge.config;

import java.net.URI;
import java.nio.file.Path;

/** Where a document is: at a URL, in a file, or in the configuration itself. */
public sealed interface DocumentSource {

  /** Fetched, and asked for again to see whether it has changed. */
  record Url(URI url) implements DocumentSource {}

  /** Read, and looked at again to see whether it has changed. */
  record LocalFile(Path file) implements DocumentSource {}

  /** As it stands, JSON. */
  record Inline(String text) implements DocumentSource {}
}
