package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.nimbusds.jose.jwk.RSAKey;
import dev.mcpbridge.fixture.Authority;
import dev.mcpbridge.fixture.IssuerStub;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.TokenForge;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Issuers over TLS: who pretends to be one could name any user. */
@Tag("access")
class IssuerTlsIT {
  private static final RSAKey KEY = TokenForge.rsa("k");
  private static final String PUBLIC = "https://tools.example.org";

  @TempDir private static Path folder;
  private static Authority authority;

  @BeforeAll
  static void createAuthority() throws Exception {
    authority = Authority.create(folder.resolve("authority"));
  }

  /** What a bridge answers to a token of an issuer, whose connections it checks as configured. */
  private static Answer whoami(IssuerStub issuer, String tls) throws Exception {
    String config =
        "{'auth':{'publicUrl':'%s','issuers':[{'name':'corp','issuer':'%s'%s}]},'mcpServers':{}}";
    try (TestBridge bridge = TestBridge.of(config.formatted(PUBLIC, issuer.url(), tls))) {
      String token =
          TokenForge.sign(KEY, TokenForge.claims(issuer.url(), PUBLIC, "mcp:read").build());
      return bridge.get("/whoami", "authorization", "Bearer " + token);
    }
  }

  private static String trusting(Authority trusted) {
    return ",'tls':{'ca':'" + trusted.certificateFile() + "'}";
  }

  @Test
  void issuerOfTheConfiguredAuthorityIsBelieved() throws Exception {
    try (IssuerStub issuer = IssuerStub.secured(authority.server("ip:127.0.0.1"), KEY)) {
      Answer answer = whoami(issuer, trusting(authority));

      assertEquals(200, answer.status(), answer.toString());
      assertEquals("corp|alice", answer.at("/principal"));
    }
  }

  @Test
  void issuerOfAnotherAuthorityIsNotAskedAndNoTokenIsAccepted() throws Exception {
    Authority other = Authority.create(folder.resolve("other"));
    try (IssuerStub issuer = IssuerStub.secured(authority.server("ip:127.0.0.1"), KEY)) {
      for (String tls : new String[] {"", trusting(other)}) {
        assertUnavailable(whoami(issuer, tls));
      }
      assertEquals(0, issuer.requests().size());
    }
  }

  @Test
  void certificateOfAnotherHostIsRefused() throws Exception {
    try (IssuerStub issuer = IssuerStub.secured(authority.server("dns:id.example.org"), KEY)) {
      assertUnavailable(whoami(issuer, trusting(authority)));
      assertEquals(0, issuer.requests().size());
    }
  }

  private static void assertUnavailable(Answer answer) {
    assertEquals("503 issuer_unavailable", answer.status() + " " + answer.code());
    assertFalse(answer.text().contains("alice"), answer.text());
  }
}
