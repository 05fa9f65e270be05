package dev.mcpbridge.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long the metadata of an issuer is used. */
class IssuerMetadataTest {
  private static final String ISSUER = "https://id.example";

  private final ObjectNode published = Json.object().put("issuer", ISSUER);
  private boolean isDown;
  private boolean isStuck;
  private int reads;
  private long now = 1_000_000;
  private final IssuerMetadata metadata = new IssuerMetadata(issuer(ISSUER), this::get, () -> now);

  private static AuthConfig.Issuer issuer(String identifier) {
    BridgeConfig config =
        new ConfigReader(Map.of())
            .read(
                TestBridge.json(
                    "{'auth':{'publicUrl':'https://tools.example','issuers':[{'name':'corp',"
                        + "'issuer':'"
                        + identifier
                        + "','audiences':['api'],"
                        + "'scopes':{'read':'mcp:read'}}]},'mcpServers':{}}"),
                ConfigReader.Strictness.ALL_OR_NOTHING);
    return config.auth().issuers().get(0);
  }

  private Future<IssuerClient.Answer> get(String url) {
    reads++;
    return isStuck
        ? Promise.<IssuerClient.Answer>promise().future()
        : isDown
            ? Future.failedFuture("connection refused")
            : Future.succeededFuture(new IssuerClient.Answer(published.deepCopy(), null));
  }

  private Future<String> endpoint() {
    return metadata.url("introspection_endpoint");
  }

  private void pass(int seconds) {
    now += TimeUnit.SECONDS.toMillis(seconds);
  }

  @Test
  void memberThatIsPublishedLaterIsFound() {
    assertTrue(endpoint().failed());
    published.put("introspection_endpoint", "https://id.example/introspect");
    pass(29);
    assertTrue(endpoint().failed(), "it is not asked for each token");

    pass(1);
    endpoint();

    assertEquals("https://id.example/introspect", endpoint().result());
    assertEquals(2, reads);
  }

  @Test
  void endpointThatHasMovedIsFoundAfterAnHour() {
    published.put("introspection_endpoint", "https://id.example/old");
    assertEquals("https://id.example/old", endpoint().result());
    published.put("introspection_endpoint", "https://id.example/new");

    pass(3_600);

    assertEquals("https://id.example/new", endpoint().result());
    assertEquals(2, reads);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void lastMetadataIsUsedWhileTheIssuerIsDownOrDoesNotAnswer(boolean refuses) {
    published.put("introspection_endpoint", "https://id.example/introspect");
    endpoint();
    isDown = refuses;
    isStuck = !refuses;

    pass(3_600);

    assertEquals("https://id.example/introspect", endpoint().result());
    assertEquals("https://id.example/introspect", endpoint().result());
    assertEquals(refuses ? 3 : 2, reads, "one discovery more, which asks at both addresses");
  }

  /** RFC 8414 section 5. */
  @ParameterizedTest
  @ValueSource(strings = {"https://id.example", "https://id.example/realms/x"})
  void issuerWithoutOpenIdConnectIsFoundAtTheAddressOfOauth(String identifier) {
    List<String> asked = new ArrayList<>();
    IssuerMetadata ofOauth =
        new IssuerMetadata(
            issuer(identifier),
            url -> {
              asked.add(url);
              return url.contains("openid")
                  ? Future.failedFuture("status 404")
                  : Future.succeededFuture(
                      new IssuerClient.Answer(
                          Json.object()
                              .put("issuer", identifier)
                              .put("jwks_uri", "https://id.example/keys"),
                          null));
            },
            () -> now);

    assertEquals("https://id.example/keys", ofOauth.url("jwks_uri").result());
    String path = identifier.substring(ISSUER.length());
    assertEquals(
        List.of(
            identifier + "/.well-known/openid-configuration",
            ISSUER + "/.well-known/oauth-authorization-server" + path),
        asked);
  }

  @Test
  void metadataOfAnotherIssuerIsNotUsedFromEitherAddress() {
    published.put("issuer", "https://evil.example").put("jwks_uri", "https://evil.example/keys");

    assertTrue(metadata.url("jwks_uri").failed());
    assertEquals(2, reads);
  }
}
