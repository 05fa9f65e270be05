package dev.mcpbridge.auth;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import dev.mcpbridge.config.ClientKey;
import dev.mcpbridge.protocol.Json;
import java.security.interfaces.ECPrivateKey;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/**
 * A signed statement of a client about itself, with which it authenticates to an authorization
 * server once (RFC 7523 section 2.2, {@code private_key_jwt}).
 */
public final class ClientAssertion {
  /** The value of {@code client_assertion_type}. */
  public static final String TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

  private static final Duration LIFETIME = Duration.ofSeconds(60);

  private ClientAssertion() {}

  /**
   * Signs one; takes up to some milliseconds. EC keys sign with the algorithm of their curve, RSA
   * keys with RS256.
   *
   * @param audience the identifier of the authorization server
   * @throws IllegalArgumentException if the curve has no algorithm
   */
  public static String of(ClientKey key, String clientId, String audience, Instant now) {
    try {
      JWSSigner signer =
          key.key() instanceof ECPrivateKey elliptic
              ? new ECDSASigner(elliptic)
              : new RSASSASigner(key.key());
      JWSAlgorithm algorithm =
          signer.supportedJWSAlgorithms().contains(JWSAlgorithm.RS256)
              ? JWSAlgorithm.RS256
              : signer.supportedJWSAlgorithms().iterator().next();
      JWSHeader header =
          new JWSHeader.Builder(algorithm).type(JOSEObjectType.JWT).keyID(key.id()).build();
      JWSObject assertion = new JWSObject(header, claims(clientId, audience, now));
      assertion.sign(signer);
      return assertion.serialize();
    } catch (JOSEException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static Payload claims(String clientId, String audience, Instant now) {
    return new Payload(
        Json.object()
            .put("iss", clientId)
            .put("sub", clientId)
            .put("aud", audience)
            .put("jti", UUID.randomUUID().toString())
            .put("iat", now.getEpochSecond())
            .put("exp", now.plus(LIFETIME).getEpochSecond())
            .toString());
  }
}
