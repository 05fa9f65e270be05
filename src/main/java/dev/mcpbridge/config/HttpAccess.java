package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Map;

/**
 * Headers, trusted certificates and credentials for all requests to a remote server.
 *
 * @param headers may contain credentials
 * @param trustedCertificates PEM file with the certificates to trust; null for those of the JDK
 * @param oauth null if credentials are only in the headers
 */
public record HttpAccess(Map<String, Secret> headers, Path trustedCertificates, OAuthConfig oauth) {
  public HttpAccess {
    headers = Map.copyOf(headers);
  }
}
