package dev.mcpbridge.config;

import java.net.URI;
import java.nio.file.Path;

/** Where a document is: at a URL, in a file, or in the configuration itself. */
public sealed interface TextSource {

  /** Fetched, and asked for again to see whether it has changed. */
  record At(URI url) implements TextSource {}

  /** Read, and looked at again to see whether it has changed. */
  record In(Path file) implements TextSource {}

  /** As it stands, JSON. */
  record Inline(String text) implements TextSource {}
}
