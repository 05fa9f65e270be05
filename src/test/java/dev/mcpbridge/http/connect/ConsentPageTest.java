package dev.mcpbridge.http.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.mcpbridge.call.ConsentTicket;
import dev.mcpbridge.model.ServerId;
import java.net.URI;
import org.junit.jupiter.api.Test;

class ConsentPageTest {
  private static String usedBy(String issuer, String client) {
    ConsentTicket ticket =
        new ConsentTicket("o.n", "corp|alice", issuer, client, new ServerId("notes"), "a", "form");
    return ConsentPage.facts(ticket, URI.create("https://notes.example/mcp")).get("Used by");
  }

  @Test
  void clientIsNamedOrSaidToBeUnnamed() {
    assertEquals("app", usedBy("corp", "app"));
    assertEquals("a client that its token does not name", usedBy("corp", null));
  }

  @Test
  void keyHasNoClient() {
    assertNull(usedBy(null, null));
  }
}
