package dev.mcpbridge.auth;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.text.ParseException;
import java.util.List;

/**
 * A signed JSON Web Token (RFC 7519, checked as RFC 8725 and RFC 9068 require). Keys that the token
 * itself names or contains are ignored. Immutable.
 */
final class SignedToken {
  private static final int MAX_KEY_ID = 256;
  private static final int MIN_RSA_BITS = 2048;
  private static final List<JOSEObjectType> ACCESS_TOKEN =
      List.of(new JOSEObjectType("at+jwt"), new JOSEObjectType("application/at+jwt"));

  private final JWSObject token;
  private final TokenClaims claims;

  private SignedToken(JWSObject token, TokenClaims claims) {
    this.token = token;
    this.claims = claims;
  }

  /** Whether a credential has the form of a JWT: three parts. Two are unsigned, five encrypted. */
  static boolean isLike(String credential) {
    return credential.chars().filter(c -> c == '.').count() == 2;
  }

  /**
   * Reads a token without verifying it.
   *
   * @throws dev.mcpbridge.error.BridgeException UNAUTHENTICATED
   */
  static SignedToken parse(String credential) {
    try {
      JWSObject token = JWSObject.parse(credential);
      JWSHeader header = token.getHeader();
      String keyId = header.getKeyID();
      boolean isPlain =
          header.getCriticalParams() == null && (keyId == null || keyId.length() <= MAX_KEY_ID);
      JsonNode claims = Json.tree(token.getPayload().toBytes());
      if (!isPlain || !claims.isObject()) {
        throw Rejection.MALFORMED.failure();
      }
      return new SignedToken(token, new TokenClaims(claims));
    } catch (ParseException | IOException | IllegalArgumentException e) {
      throw Rejection.MALFORMED.failure();
    }
  }

  /** The issuer that the token claims; null if it claims none. */
  String issuer() {
    return claims.text("iss");
  }

  /** Null if absent. */
  String keyId() {
    return token.getHeader().getKeyID();
  }

  /**
   * Verifies the signature, the type and the claims.
   *
   * @param keys keys of the issuer
   * @throws dev.mcpbridge.error.BridgeException UNAUTHENTICATED
   */
  Identity verify(JWKSet keys, AuthConfig.Issuer issuer, long nowMillis) {
    AuthConfig.TokenRules rules = issuer.tokens();
    verifySignature(keys, rules);
    if (!isTypedAsAccessToken() && (rules.requiresAccessTokenType() || !claims.isAccessToken())) {
      throw Rejection.WRONG_TYPE.failure();
    }
    verifyIssuer(issuer, nowMillis);
    return claims.identity(issuer, false);
  }

  /**
   * Verifies an ID token (OpenID Connect Core 1.0 section 3.1.3.7).
   *
   * @param clientId to which it must be issued
   * @param nonce of the request
   * @return its subject
   * @throws dev.mcpbridge.error.BridgeException UNAUTHENTICATED
   */
  String verifyLogin(
      JWKSet keys, AuthConfig.Issuer issuer, String clientId, String nonce, long nowMillis) {
    verifySignature(keys, issuer.tokens());
    verifyIssuer(issuer, nowMillis);
    if (!claims.isFor(clientId) || isTypedAsAccessToken()) {
      throw Rejection.WRONG_AUDIENCE.failure();
    }
    if (!nonce.equals(claims.text("nonce"))) {
      throw Rejection.MALFORMED.failure();
    }
    return claims.subject(false);
  }

  /** Whether one of these keys has signed the token. */
  boolean isSignedBy(JWKSet keys) {
    return fitting(keys).stream().anyMatch(this::isSignedBy);
  }

  /** The type is optional (RFC 7515 section 4.1.9). */
  private boolean isTypedAsAccessToken() {
    JOSEObjectType type = token.getHeader().getType();
    return type != null && ACCESS_TOKEN.contains(type);
  }

  private void verifySignature(JWKSet keys, AuthConfig.TokenRules rules) {
    if (!rules.algorithms().contains(token.getHeader().getAlgorithm().getName())) {
      throw Rejection.WRONG_ALGORITHM.failure();
    }
    List<JWK> fitting = fitting(keys);
    if (fitting.isEmpty() || keyId() == null && fitting.size() > 1) {
      throw Rejection.UNKNOWN_KEY.failure();
    }
    if (fitting.stream().noneMatch(this::isSignedBy)) {
      throw Rejection.WRONG_SIGNATURE.failure();
    }
  }

  private void verifyIssuer(AuthConfig.Issuer issuer, long nowMillis) {
    if (!issuer.issuer().equals(issuer())) {
      throw Rejection.WRONG_ISSUER.failure();
    }
    if (!claims.expires()) {
      throw Rejection.MALFORMED.failure();
    }
    claims.checkValidity(issuer.tokens().clockSkewMillis(), nowMillis);
  }

  /** The keys with the id, type, curve, use and algorithm of the header. */
  private List<JWK> fitting(JWKSet keys) {
    return new JWKSelector(JWKMatcher.forJWSHeader(token.getHeader()))
        .select(keys).stream()
            .filter(key -> !(key instanceof RSAKey) || key.size() >= MIN_RSA_BITS)
            .toList();
  }

  private boolean isSignedBy(JWK key) {
    try {
      return token.verify(verifier(key));
    } catch (JOSEException e) {
      return false;
    }
  }

  private static JWSVerifier verifier(JWK key) throws JOSEException {
    if (key instanceof RSAKey rsa) {
      return new RSASSAVerifier(rsa);
    }
    if (key instanceof ECKey ec) {
      return new ECDSAVerifier(ec);
    }
    throw new JOSEException("no key of a signature that is accepted");
  }
}
