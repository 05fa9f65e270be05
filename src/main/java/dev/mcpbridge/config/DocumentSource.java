package dev.mcpbridge.config;

import java.net.URI;
import java.nio.file.Path;

/** The location of a document: a URL, a file, or the configuration itself. */
public sealed interface DocumentSource {

  /** Fetched, and polled for changes. */
  record Url(URI url) implements DocumentSource {}

  /** Read, and polled for changes. */
  record LocalFile(Path file) implements DocumentSource {}

  /** JSON text in the configuration. */
  record Inline(String text) implements DocumentSource {}
}
