package dev.mcpbridge.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How callers are identified. Without keys and issuers, every client that can reach the listener is
 * trusted.
 *
 * @param publicUrl URL at which clients reach the bridge, without a trailing slash; null for the
 *     listener's own
 * @param login null if users cannot log in at pages of the bridge
 * @param isOfOneUser whether only the user who started the bridge knows its addresses and keys
 * @param program name of the program that runs the bridge in its process, which vouches for its
 *     callers as an issuer does; null for a bridge of its own
 */
public record AuthConfig(
    List<Key> keys,
    List<Issuer> issuers,
    String publicUrl,
    Login login,
    boolean isOfOneUser,
    String program) {

  /** That of a bridge within the process of its user. */
  public static AuthConfig ofOneUser(Key key) {
    return new AuthConfig(List.of(key), List.of(), null, null, true, null);
  }

  /** That of a bridge within a program. */
  public AuthConfig withProgram(String name) {
    return new AuthConfig(keys, issuers, publicUrl, login, isOfOneUser, name);
  }

  /** Whether a name is that of an issuer, or of the program that runs the bridge. */
  public boolean hasIssuer(String name) {
    return name.equals(program) || issuers.stream().anyMatch(each -> each.name().equals(name));
  }

  /** Whether users have to prove at pages of the bridge who they are. */
  public boolean needsProof() {
    return isRequired() && !isOfOneUser;
  }

  /** Whether a caller needs a credential. */
  public boolean isRequired() {
    return !keys.isEmpty() || !issuers.isEmpty();
  }

  /**
   * Whether a principal may call the bridge.
   *
   * @param principal its name
   */
  public boolean knows(String principal) {
    int bar = principal.indexOf('|');
    if (bar >= 0) {
      return hasIssuer(principal.substring(0, bar));
    }
    return !isRequired() || keys.stream().anyMatch(key -> key.name().equals(principal));
  }

  /**
   * Why a listener that other machines can reach is not protected; null if it is.
   *
   * @param mayBeOpen whether callers may do without a credential
   */
  public String objection(boolean mayBeOpen) {
    if (!isRequired() && !mayBeOpen) {
      return "is reachable from other machines: add auth.keys or auth.issuers, or set"
          + " http.insecure: true";
    }
    return !issuers.isEmpty() && publicUrl == null
        ? "is not the address that tokens are issued for: set auth.publicUrl"
        : null;
  }

  /**
   * An API key.
   *
   * @param sha256 SHA-256 of the key in lower-case hexadecimal
   * @param scopes any of {@code read}, {@code call}, {@code approve}, {@code admin}
   */
  public record Key(String name, String sha256, Set<String> scopes, Set<String> roles) {}

  /**
   * An issuer of access tokens.
   *
   * @param issuer its identifier, as in the claim {@code iss}
   * @param introspection null if tokens that are not JWTs are refused
   * @param trustedCertificates PEM file for connections to it; null for those of the JDK
   */
  public record Issuer(
      String name,
      String issuer,
      TokenRules tokens,
      Grants grants,
      long staleKeysMillis,
      Client introspection,
      Path trustedCertificates) {}

  /**
   * Which tokens are accepted.
   *
   * @param requiresAccessTokenType whether the type has to be {@code at+jwt} (RFC 9068)
   * @param audiences accepted in addition to the URLs of the bridge
   */
  public record TokenRules(
      boolean requiresAccessTokenType,
      Set<String> algorithms,
      Set<String> audiences,
      long clockSkewMillis) {}

  /**
   * What a token grants.
   *
   * @param scopes the names in tokens, by scope of the bridge
   * @param roleClaims paths of claims with roles, with dots between names
   */
  public record Grants(Map<String, String> scopes, List<String> roleClaims) {}

  /** The bridge as a client of an issuer. */
  public record Client(String clientId, Secret clientSecret) {}

  /**
   * How users log in at pages of the bridge.
   *
   * @param issuer configured name of the issuer
   * @param scopes that the console asks for; empty for those of read and call
   */
  public record Login(String issuer, Client client, List<String> scopes) {}
}
