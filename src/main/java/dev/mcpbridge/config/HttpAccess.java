package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Map;

/**
 * What goes with every request to a server that somebody else runs.
 *
 * @param headers they may hold credentials
 * @param authority PEM file of the certificates to trust; null for the JDK's
 */
public record HttpAccess(Map<String, Secret> headers, Path authority) {
  public HttpAccess {
    headers = Map.copyOf(headers);
  }
}
