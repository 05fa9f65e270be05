package dev.mcpbridge.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.TokenForge;
import dev.mcpbridge.model.Scope;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Attacks on the verification of tokens (RFC 8725), each beside a token that is accepted. */
class SignedTokenTest {
  private static final String ISSUER = "https://id.example/realm";
  private static final String AUDIENCE = "https://tools.example";
  private static final RSAKey RSA = TokenForge.rsa("r1");
  private static final ECKey EC = TokenForge.ec("e1");
  private static final RSAKey FOREIGN = TokenForge.rsa("r1");
  private static final JWKSet KEYS = published(RSA, EC);

  private static JWKSet published(JWK... keys) {
    return new JWKSet(Arrays.asList(keys)).toPublicJWKSet();
  }

  private static AuthConfig.Issuer issuer(boolean requiresType) {
    return new AuthConfig.Issuer(
        "corp",
        ISSUER,
        new AuthConfig.TokenRules(
            requiresType, Set.of("RS256", "PS256", "ES256"), Set.of(), 30_000),
        new AuthConfig.Grants(
            Map.of(
                "read",
                "mcp:read",
                "call",
                "mcp:call",
                "approve",
                "mcp:approve",
                "admin",
                "mcp:admin"),
            List.of("groups", "realm_access.roles")),
        0,
        null,
        null);
  }

  private static JWTClaimsSet.Builder claims() {
    return TokenForge.claims(ISSUER, AUDIENCE, "mcp:call other");
  }

  private static Identity verify(String token) {
    return verify(token, KEYS, issuer(true), System.currentTimeMillis());
  }

  private static Identity verify(String token, JWKSet keys, AuthConfig.Issuer issuer, long now) {
    return SignedToken.parse(token).verify(keys, issuer, now);
  }

  private static void assertRejected(String reason, String token) {
    assertRejected(reason, token, KEYS, issuer(true));
  }

  private static void assertRejected(
      String reason, String token, JWKSet keys, AuthConfig.Issuer issuer) {
    BridgeException failure =
        assertThrows(
            BridgeException.class, () -> verify(token, keys, issuer, System.currentTimeMillis()));
    assertEquals(ErrorCode.UNAUTHENTICATED, failure.code());
    assertEquals(reason, failure.members().get("reason"));
  }

  private static String encoded(String part) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(part.getBytes(StandardCharsets.UTF_8));
  }

  static Stream<JWK> keys() {
    return Stream.of(RSA, EC);
  }

  @ParameterizedTest
  @MethodSource("keys")
  void tokenOfTheIssuerIsAccepted(JWK key) {
    Identity identity = verify(TokenForge.sign(key, claims().build()));

    assertEquals("corp|alice", identity.principal().name());
    assertEquals("client", identity.principal().token().client());
    assertEquals(Set.of(Scope.READ, Scope.CALL), identity.principal().scopes());
    assertEquals(Set.of(AUDIENCE), identity.audiences());
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "None", "NONE", "nOnE"})
  void unsignedTokenIsMalformed(String algorithm) {
    String header = encoded("{\"alg\":\"" + algorithm + "\",\"typ\":\"at+jwt\"}");
    String body = encoded(claims().build().toString());
    assertRejected("malformed token", header + "." + body + ".");
    assertRejected(
        algorithm.equals("none") ? "malformed token" : "wrong algorithm",
        header + "." + body + "." + encoded("x"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a.b", "a.b.c", "a.b.c.d.e", "..", "a..c", "", "{}.{}.{}", "%.%.%"})
  void textThatIsNoTokenIsMalformed(String text) {
    assertRejected("malformed token", text);
  }

  @Test
  void tokenWithAnotherNumberOfPartsIsNotTakenForASignedOne() {
    assertEquals(
        List.of(false, true, false),
        Stream.of("a.b", "a.b.c", "a.b.c.d.e").map(SignedToken::isLike).toList());
  }

  /** RFC 8725 section 2.1: the public RSA key as the key of an HMAC. */
  @Test
  void publicKeyIsNoSecret() throws Exception {
    byte[] der = RSA.toRSAPublicKey().getEncoded();
    String pem =
        "-----BEGIN PUBLIC KEY-----\n"
            + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(der)
            + "\n-----END PUBLIC KEY-----\n";
    byte[] modulus = RSA.getModulus().decode();
    for (byte[] secret : List.of(der, pem.getBytes(StandardCharsets.US_ASCII), modulus)) {
      SignedJWT token =
          new SignedJWT(
              new JWSHeader.Builder(JWSAlgorithm.HS256)
                  .type(new JOSEObjectType("at+jwt"))
                  .keyID("r1")
                  .build(),
              claims().build());
      token.sign(new MACSigner(secret));
      assertRejected("wrong algorithm", token.serialize());
    }
  }

  @Test
  void algorithmAndKeyHaveToFit() {
    JWSHeader header =
        new JWSHeader.Builder(JWSAlgorithm.ES256)
            .type(new JOSEObjectType("at+jwt"))
            .keyID("r1")
            .build();
    assertRejected("unknown key", TokenForge.sign(EC, header, claims().build()));
  }

  @Test
  void foreignKeyWithTheSameIdIsNotTheIssuersKey() {
    assertRejected("wrong signature", TokenForge.sign(FOREIGN, claims().build()));
  }

  @Test
  void changedClaimsBreakTheSignature() {
    String[] parts = TokenForge.sign(RSA, claims().build()).split("\\.");
    String other = TokenForge.sign(RSA, claims().subject("root").build()).split("\\.")[1];
    assertRejected("wrong signature", parts[0] + "." + other + "." + parts[2]);
  }

  /** The keys that a token brings along are not looked at. */
  @Test
  void keysInTheHeaderAreIgnored() {
    JWSHeader.Builder header = TokenForge.header(FOREIGN);
    header.jwk(FOREIGN.toPublicJWK());
    header.jwkURL(URI.create("http://127.0.0.1:1/keys"));
    header.x509CertURL(URI.create("http://127.0.0.1:1/certificate"));
    assertRejected("wrong signature", TokenForge.sign(FOREIGN, header.build(), claims().build()));
  }

  @Test
  void extensionThatMustBeUnderstoodIsRefused() {
    JWSHeader header =
        TokenForge.header(RSA).criticalParams(Set.of("x")).customParam("x", 1).build();
    assertRejected("malformed token", TokenForge.sign(RSA, header, claims().build()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"../../etc/passwd", "' OR 1=1", "r2"})
  void keyIdIsOnlyLookedUp(String keyId) {
    JWSHeader header = TokenForge.header(RSA).keyID(keyId).build();
    assertRejected("unknown key", TokenForge.sign(RSA, header, claims().build()));
  }

  @Test
  void longKeyIdIsRefused() {
    JWSHeader header = TokenForge.header(RSA).keyID("k".repeat(257)).build();
    assertRejected("malformed token", TokenForge.sign(RSA, header, claims().build()));
  }

  @Test
  void withoutKeyIdTheOnlyFittingKeyIsUsed() {
    String token =
        TokenForge.sign(RSA, TokenForge.header(RSA).keyID(null).build(), claims().build());
    assertEquals("corp|alice", verify(token).principal().name());
    assertRejected("unknown key", token, published(RSA, TokenForge.rsa("r2"), EC), issuer(true));
  }

  @Test
  void shortKeyIsNotUsed() {
    RSAKey small = TokenForge.rsa("small", 1024);
    assertRejected(
        "unknown key", TokenForge.sign(small, claims().build()), published(small), issuer(true));
  }

  @Test
  void timesAreCheckedWithTheSkewOfTheClocks() {
    Instant now = Instant.ofEpochSecond(1_800_000_000);
    String token =
        TokenForge.sign(
            RSA,
            claims()
                .issueTime(Date.from(now))
                .notBeforeTime(Date.from(now))
                .expirationTime(Date.from(now.plusSeconds(60)))
                .build());
    for (int second : new int[] {-30, 0, 60, 89}) {
      verify(token, KEYS, issuer(true), now.plusSeconds(second).toEpochMilli());
    }
    Map.of(-31, "not yet valid", 90, "expired", 4000, "expired")
        .forEach(
            (second, reason) -> {
              BridgeException failure =
                  assertThrows(
                      BridgeException.class,
                      () ->
                          verify(
                              token, KEYS, issuer(true), now.plusSeconds(second).toEpochMilli()));
              assertEquals(reason, failure.members().get("reason"));
            });
  }

  private record Change(
      String reason, UnaryOperator<JWTClaimsSet.Builder> change, boolean isTyped) {}

  static Stream<Change> wrongClaims() {
    return Stream.of(
        new Change("wrong issuer", c -> c.issuer(ISSUER + "/"), true),
        new Change("wrong issuer", c -> c.issuer(null), true),
        new Change("malformed token", c -> c.expirationTime(null), true),
        new Change("malformed token", c -> c.claim("exp", "tomorrow"), true),
        new Change("no subject", c -> c.subject(null), true),
        new Change("no subject", c -> c.subject(""), true),
        new Change("no subject", c -> c.claim("sub", 7), true),
        new Change("no subject", c -> c.subject("|client"), true),
        new Change("no subject", c -> c.subject("a".repeat(256)), true),
        new Change("no subject", c -> c.subject("alice\nnode=x declared lost"), true),
        new Change("bound to a key of its sender", c -> c.claim("cnf", Map.of("jkt", "x")), true));
  }

  @ParameterizedTest
  @MethodSource("wrongClaims")
  void tokenWithWrongClaimsIsRefused(Change wrong) {
    assertRejected(wrong.reason(), TokenForge.with(RSA, claims(), wrong.change()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"at+jwt", "AT+JWT", "application/at+jwt"})
  void typeOfAccessTokensIsAcceptedInAnyCase(String type) {
    JWSHeader header = TokenForge.header(RSA).type(new JOSEObjectType(type)).build();
    assertEquals(
        "corp|alice", verify(TokenForge.sign(RSA, header, claims().build())).principal().name());
  }

  @Test
  void tokenWithoutATypeIsOneOfAnotherType() {
    JWSHeader header = TokenForge.header(RSA).type(null).build();
    String untyped = TokenForge.sign(RSA, header, claims().build());

    assertRejected("wrong type", untyped);
    assertEquals(
        "corp|alice",
        verify(untyped, KEYS, issuer(false), System.currentTimeMillis()).principal().name());
  }

  @Test
  void loginNeedsAnIdTokenOfItsRequestForTheClientAlone() {
    JWTClaimsSet.Builder login =
        claims().audience("pages").claim("nonce", "n").claim("client_id", null);
    assertEquals("alice", login(login.build(), "n"));

    assertLoginFails(login.build(), "other");
    assertLoginFails(login.claim("nonce", null).build(), "n");
    login.claim("nonce", "n");
    assertLoginFails(login.audience("other").build(), "n");
    assertLoginFails(login.audience(List.of("pages", "other")).build(), "n");
    assertLoginFails(login.audience("pages").claim("azp", "other").build(), "n");
    login.claim("azp", null);
    assertLoginFails(login.issuer("https://evil.example").build(), "n");
    login.issuer(claims().build().getIssuer());
    assertLoginFails(login.expirationTime(new Date(0)).build(), "n");
  }

  private static String login(JWTClaimsSet claims, String nonce) {
    JWSHeader header = TokenForge.header(RSA).type(JOSEObjectType.JWT).build();
    return SignedToken.parse(TokenForge.sign(RSA, header, claims))
        .verifyLogin(KEYS, issuer(true), "pages", nonce, System.currentTimeMillis());
  }

  private static void assertLoginFails(JWTClaimsSet claims, String nonce) {
    BridgeException refused =
        assertThrows(BridgeException.class, () -> login(claims, nonce), claims.toString());
    assertEquals(ErrorCode.UNAUTHENTICATED, refused.code());
  }

  @Test
  void otherTypesAreAcceptedOnlyWhereConfiguredAndNeverIdTokens() {
    JWSHeader header = TokenForge.header(RSA).type(JOSEObjectType.JWT).build();
    String keycloak =
        TokenForge.sign(RSA, header, claims().claim("client_id", null).claim("azp", "web").build());

    assertRejected("wrong type", keycloak);
    Identity identity = verify(keycloak, KEYS, issuer(false), System.currentTimeMillis());
    assertEquals("web", identity.principal().token().client());
    for (UnaryOperator<JWTClaimsSet.Builder> idToken :
        List.<UnaryOperator<JWTClaimsSet.Builder>>of(
            c -> c.claim("nonce", "n"),
            c -> c.claim("at_hash", "h"),
            c -> c.claim("scope", null),
            c -> c.claim("client_id", null))) {
      assertRejected(
          "wrong type",
          TokenForge.sign(RSA, header, idToken.apply(claims()).build()),
          KEYS,
          issuer(false));
    }
  }

  @Test
  void duplicateAndDeepClaimsAreMalformed() {
    String header = encoded("{\"alg\":\"RS256\",\"kid\":\"r1\",\"typ\":\"at+jwt\"}");
    assertRejected("malformed token", header + "." + encoded("{\"iss\":1,\"iss\":2}") + ".eA");
    assertRejected("malformed token", header + "." + encoded("[1]") + ".eA");
    String deep = "{\"a\":".repeat(1100) + "1" + "}".repeat(1100);
    assertRejected("malformed token", header + "." + encoded(deep) + ".eA");
    String deepHeader = encoded("{\"alg\":\"RS256\",\"x\":" + "[".repeat(2000));
    assertRejected("malformed token", deepHeader + "." + encoded("{}") + ".eA");
  }

  @Test
  void rolesAreReadFromConfiguredClaimsInTheirUsualForms() {
    Identity identity =
        verify(
            TokenForge.with(
                RSA,
                claims(),
                c ->
                    c.claim("groups", List.of("dev", 7))
                        .claim("realm_access", Map.of("roles", "ops"))));
    assertEquals(Set.of("dev", "ops"), identity.principal().roles());
  }
}
