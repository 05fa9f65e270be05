package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.Map;

/**
 * Headers, trusted certificates and credentials for all requests to a remote server.
 *
 * @param headers may contain credentials
 * @param trustedCertificates PEM file with the certificates to trust; null for those of the JDK
 * @param clientCertificate proves who the bridge is; null if it has none
 * @param oauth null if credentials are only in the headers
 */
public record HttpAccess(
    Map<String, Secret> headers,
    Path trustedCertificates,
    ClientCertificate clientCertificate,
    OAuthConfig oauth) {

  /** PEM files of a certificate chain and its private key. */
  public record ClientCertificate(Path chain, Path key) {}

  /** Without certificates of its own. */
  public HttpAccess(Map<String, Secret> headers, Path trustedCertificates, OAuthConfig oauth) {
    this(headers, trustedCertificates, null, oauth);
  }

  public HttpAccess {
    headers = Map.copyOf(headers);
  }
}
