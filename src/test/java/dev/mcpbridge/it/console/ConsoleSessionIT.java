package dev.mcpbridge.it.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Sessions in place of API keys, at a real bridge. */
class ConsoleSessionIT {
  private static final String READER = ApiKeys.generate();
  private static final String CALLER = ApiKeys.generate();

  @AutoClose private final TestBridge bridge = TestBridge.of(config(READER));

  private static String config(String reader) {
    return "{%s,'mcpServers':{}}"
        .formatted(
            TestBridge.auth(
                TestBridge.key("reader", reader, "'read'"),
                TestBridge.key("caller", CALLER, "'read','call'")));
  }

  private String session(String key) throws Exception {
    return bridge.post("/console/session", "", "authorization", "Bearer " + key).at("/token");
  }

  private Answer get(String path, String credential) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + credential);
  }

  @Test
  void sessionHasTheRightsOfItsKeyOnly() throws Exception {
    String session = session(READER);

    assertEquals("reader", get("/whoami", session).at("/principal"));
    assertEquals("[\"read\"]", get("/whoami", session).body().path("scopes").toString());
    assertEquals(403, get("/calls", session).status());
    assertEquals(
        403, bridge.post("/console/session", "", "authorization", "Bearer " + session).status());
  }

  @Test
  void sessionEndsWhenItIsClosedAndWithItsKey() throws Exception {
    String closed = session(READER);
    String kept = session(CALLER);
    String withdrawn = session(READER);

    assertEquals(
        204, bridge.delete("/console/session", "authorization", "Bearer " + closed).status());
    bridge.reload(config(ApiKeys.generate()));

    assertEquals(401, get("/whoami", closed).status());
    assertEquals(401, get("/whoami", withdrawn).status(), "its key was replaced");
    assertEquals(200, get("/whoami", kept).status());
    assertEquals(
        401, bridge.delete("/console/session", "authorization", "Bearer " + closed).status());
  }

  @Test
  void callerWithoutAKeyNeedsNoSession() throws Exception {
    try (TestBridge open = TestBridge.of("{'mcpServers':{}}")) {
      Answer answer = open.post("/console/session", "");
      assertTrue(answer.body().path("token").isNull(), answer.toString());
      assertEquals(404, open.delete("/console/session").status());
    }
    assertEquals(401, bridge.post("/console/session", "").status());
    assertEquals(401, session("mcbs_unknown").isEmpty() ? 401 : 200);
  }
}
