package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Map;

/**
 * Headers and trusted certificates for all requests to a remote server.
 *
 * @param headers may contain credentials
 * @param trustedCertificates PEM file with the certificates to trust; null for those of the JDK
 */
public record HttpAccess(Map<String, Secret> headers, Path trustedCertificates) {
  public HttpAccess {
    headers = Map.copyOf(headers);
  }
}
