package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.RSAKey;
import dev.mcpbridge.fixture.CapturedLog;
import dev.mcpbridge.fixture.ConsentBrowser;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.ProtectedServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TokenForge;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bridge proves with a private key who it is, at every endpoint and for every kind of token.
 */
@Tag("access")
class ClientKeyIT {
  @AutoClose private final ProtectedServer notes = new ProtectedServer();
  @AutoClose private TestBridge bridge;
  @TempDir private Path folder;
  private final int port = FreePorts.find(1).get(0);

  ClientKeyIT() throws Exception {}

  /** The members of {@code oauth}, with a new key in a file. */
  private String with(ECKey key) throws Exception {
    Path file = Files.createTempFile(folder, "client", ".pem");
    String text = Base64.getEncoder().encodeToString(key.toPrivateKey().getEncoded());
    Files.writeString(
        file, "-----BEGIN PRIVATE KEY-----\n" + text + "\n-----END PRIVATE KEY-----\n");
    return ",'clientId':'bridge','clientKey':'${file:%s}','issuers':['%s']"
        .formatted(file, notes.url(""));
  }

  private void start(String oauth, String further) {
    String credentials =
        "'credentials':{'file':'%s','keys':[{'id':'a','key':'%s'}]},"
            .formatted(
                folder.resolve("kept/credentials.json"),
                Base64.getEncoder().encodeToString(new byte[32]));
    bridge =
        TestBridge.at(
            port,
            "{%s%s'mcpServers':{'notes':%s}}".formatted(credentials, further, notes.entry(oauth)));
  }

  private Answer call(String... headers) throws Exception {
    return bridge.post("/servers/notes/tools/me", "{}", headers);
  }

  @Test
  void grantOfAUserIsRedeemedRefreshedAndRevokedAlsoAfterANewKey() throws Exception {
    // Given
    ECKey first = TokenForge.ec("a");
    notes.knows(first);
    start(with(first), "");

    // When
    new ConsentBrowser().connect(call().at("/connect_url"), Map.of());

    // Then
    assertEquals("alice", call().firstText());
    notes.revokeAccess();
    assertEquals("alice", call().firstText());
    assertEquals(2, notes.assertions());

    // When
    bridge.close();
    ECKey second = TokenForge.ec("b");
    notes.knows(second);
    start(with(second), "");
    notes.revokeAccess();

    // Then
    assertEquals("alice", call().firstText());
    assertEquals(1, notes.count("/authorize"));
    assertEquals(204, bridge.delete("/servers/notes/credentials").status());
    assertEquals(4, notes.assertions());
    assertTrue(notes.secrets().isEmpty(), notes.secrets().toString());
  }

  @Test
  void serviceGetsATokenAndANewOne() throws Exception {
    ECKey key = TokenForge.ec("a");
    notes.knows(key);
    start(",'as':'service'" + with(key), "");
    bridge.awaitReady("notes");

    assertEquals("service", call().firstText());
    notes.revokeAccess();
    assertEquals("service", call().firstText());

    assertEquals(2, notes.assertions());
  }

  @Test
  void tokenOfACallerIsExchanged() throws Exception {
    RSAKey signing = TokenForge.rsa("r");
    ECKey key = TokenForge.ec("a");
    notes.knows(key);
    try (IssuerStub issuer = IssuerStub.at("", signing.toPublicJWK())) {
      start(
          ",'as':'exchange','audience':'notes','scopes':['notes']" + with(key),
          "'auth':{'issuers':[{'name':'corp','issuer':'%s','audiences':['all']}]},"
              .formatted(issuer.url()));
      String token = TokenForge.token(signing, issuer.url(), "bob");

      Answer[] answer = new Answer[1];
      bridge.until(() -> (answer[0] = call("authorization", "Bearer " + token)).status() == 200);

      assertEquals("bob", answer[0].firstText());
    }
  }

  @Test
  void foreignKeyIsRefusedAndNeitherLoggedNorShown() throws Exception {
    notes.knows(TokenForge.ec("known"));
    ECKey foreign = TokenForge.ec("foreign");
    String text = Base64.getEncoder().encodeToString(foreign.toPrivateKey().getEncoded());
    try (CapturedLog log = new CapturedLog()) {
      start(",'as':'service'" + with(foreign), "");
      bridge.until(() -> bridge.get("/servers/notes").body().path("last_error").isTextual());

      Answer refused = call();
      String shown = bridge.get("/servers/notes").text();

      assertEquals(503, refused.status(), refused.toString());
      assertEquals("no", refused.at("/executed"));
      assertTrue(shown.contains("invalid_client"), shown);
      for (String part : new String[] {text, text.substring(20, 60)}) {
        assertFalse((log.lines() + shown + refused).contains(part), "the key is shown");
      }
      assertEquals(0, notes.assertions());
      assertTrue(notes.calls().isEmpty());
    }
  }
}
