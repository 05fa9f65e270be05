package dev.mcpbridge.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.SignedJWT;
import dev.mcpbridge.config.ClientKey;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.config.Secret;
import dev.mcpbridge.fixture.TokenForge;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.MultiMap;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How the bridge authenticates to an authorization server. */
class RegistrationTest {
  private static final AuthorizationServer ISSUER =
      new AuthorizationServer(
          "https://id.example",
          Json.object().put("token_endpoint", "https://id.example/oauth/token"));

  private static OAuthConfig.Client client(String secret, ClientKey key) {
    return new OAuthConfig.Client("bridge", secret == null ? null : new Secret(secret), key, null);
  }

  private static MultiMap form() {
    return MultiMap.caseInsensitiveMultiMap();
  }

  /** The assertion of a request, which contains no secret. */
  private static SignedJWT assertion(Registration registration, ClientKey key) throws Exception {
    MultiMap form = form();
    assertNull(registration.authenticate(form, key));
    assertEquals("bridge", form.get("client_id"));
    assertEquals(
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        form.get("client_assertion_type"));
    assertFalse(form.contains("client_secret"));
    return SignedJWT.parse(form.get("client_assertion"));
  }

  @ParameterizedTest
  @CsvSource({"P-256, ES256", "P-384, ES384", "P-521, ES512"})
  void keyOfACurveSignsAnAssertionForTheIssuer(String curve, String algorithm) throws Exception {
    // Given
    ECKey pair = new ECKeyGenerator(Curve.parse(curve)).generate();
    ClientKey key = new ClientKey(pair.toPrivateKey(), "2026-a");
    Registration registration = Registration.of(client(null, key), ISSUER);

    // When
    SignedJWT assertion = assertion(registration, key);

    // Then
    assertTrue(assertion.verify(new ECDSAVerifier(pair)));
    assertEquals(algorithm, assertion.getHeader().getAlgorithm().getName());
    assertEquals("2026-a", assertion.getHeader().getKeyID());
    var claims = assertion.getJWTClaimsSet();
    assertEquals("bridge", claims.getIssuer());
    assertEquals("bridge", claims.getSubject());
    assertEquals(List.of("https://id.example"), claims.getAudience());
    Instant expires = claims.getExpirationTime().toInstant();
    assertTrue(expires.isAfter(Instant.now()), expires.toString());
    assertFalse(expires.isAfter(Instant.now().plusSeconds(60)), expires.toString());
  }

  @Test
  void keyOfRsaSignsEachRequestAnew() throws Exception {
    RSAKey pair = TokenForge.rsa("r");
    ClientKey key = new ClientKey(pair.toPrivateKey(), null);
    Registration registration = Registration.of(client(null, key), ISSUER);

    SignedJWT first = assertion(registration, key);
    SignedJWT second = assertion(registration, key);

    assertTrue(first.verify(new RSASSAVerifier(pair)));
    assertEquals("RS256", first.getHeader().getAlgorithm().getName());
    assertNull(first.getHeader().getKeyID());
    assertNotEquals(first.getJWTClaimsSet().getJWTID(), second.getJWTClaimsSet().getJWTID());
  }

  @Test
  void storedRegistrationWithAKeyContainsNoKeyAndSignsForItsIssuer() throws Exception {
    ECKey pair = TokenForge.ec("e");
    ClientKey key = new ClientKey(pair.toPrivateKey(), null);
    String stored = Registration.of(client(null, key), ISSUER).json().toString();

    Registration read = Registration.of(Json.parsed(stored));

    assertEquals(
        "{\"clientId\":\"bridge\",\"secret\":null,\"method\":\"private_key_jwt\","
            + "\"issuer\":\"https://id.example\"}",
        stored);
    assertEquals(
        List.of("https://id.example"), assertion(read, key).getJWTClaimsSet().getAudience());
  }

  @Test
  void registrationWhoseKeyWasRemovedSendsOnlyItsId() throws Exception {
    ClientKey removed = new ClientKey(TokenForge.ec("e").toPrivateKey(), null);
    MultiMap form = form();

    assertNull(Registration.of(client(null, removed), ISSUER).authenticate(form, null));

    assertEquals(Set.of("client_id"), form.names());
  }

  @Test
  void secretIsSentAsBasicCredentialsAndAPublicClientSendsItsId() {
    MultiMap confidential = form();
    MultiMap open = form();

    String authorization =
        Registration.of(client("s3cret", null), ISSUER).authenticate(confidential, null);

    assertEquals("Basic YnJpZGdlOnMzY3JldA==", authorization);
    assertTrue(confidential.isEmpty());
    assertNull(Registration.of(client(null, null), ISSUER).authenticate(open, null));
    assertEquals("bridge", open.get("client_id"));
  }
}
