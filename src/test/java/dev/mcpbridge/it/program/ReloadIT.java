package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Settings other than servers that a reload changes without a restart. */
@Tag("program")
@Tag("threads")
class ReloadIT {
  private static final String SERVERS =
      "'mcpServers':{'s':" + TestBridge.entry("'risk':{'tools':{'echo':2}}") + "}}";
  private static final String YES = "{\"confirm\":true}";

  @Test
  void confirmationSettingsAreReloaded() throws Exception {
    try (TestBridge bridge = TestBridge.of("{" + SERVERS).awaitReady("s")) {
      Answer before = bridge.call("echo", "{}");
      assertEquals(200, before.status());
      assertEquals("wrong_token", bridge.post(path(before), YES).code());

      bridge.reload("{'risk':{'pendingStatus':202,'requireToken':false,'expiry':0.1}," + SERVERS);

      Answer after = bridge.call("echo", "{}");
      assertEquals(202, after.status());
      bridge.until(() -> bridge.get(path(after)).status() == 404);
      assertEquals(200, bridge.post(path(before), YES).status());
    }
  }

  @Test
  void theApproverIsReloaded() throws Exception {
    String caller = ApiKeys.generate();
    String boss = ApiKeys.generate();
    String keys =
        TestBridge.auth(
                TestBridge.key("caller", caller, "'read','call'"),
                TestBridge.key("boss", boss, "'read','call','approve'"))
            + ",";
    try (TestBridge bridge = TestBridge.of("{" + keys + SERVERS)) {
      bridge.until(() -> bridge.get("/servers/s", "x-api-key", boss).text().contains("\"ready\""));

      bridge.reload("{'risk':{'approver':'operator'}," + keys + SERVERS);

      Answer pending = bridge.call("echo", "{}", "x-api-key", caller);
      assertFalse(pending.body().has("token"), pending.text());
      assertEquals(403, bridge.post(path(pending), YES, "x-api-key", caller).status());
      assertEquals(200, bridge.post(path(pending), YES, "x-api-key", boss).status());
    }
  }

  @Test
  void hostNamesAndOriginsAreReloaded() throws Exception {
    try (TestBridge bridge = TestBridge.of("{" + SERVERS)) {
      assertEquals(403, bridge.get("/servers", "origin", "https://app.example").status());
      assertTrue(statusLine(bridge, "bridge.example").startsWith("HTTP/1.1 403"));

      bridge.reload(
          "{'http':{'hosts':['bridge.example'],'cors':{'origins':['https://app.example']}},"
              + SERVERS);

      Answer answer = bridge.get("/servers", "origin", "https://app.example");
      assertEquals(200, answer.status());
      assertEquals("https://app.example", answer.header("access-control-allow-origin"));
      assertTrue(statusLine(bridge, "bridge.example").startsWith("HTTP/1.1 200"));

      bridge.reload("{" + SERVERS);

      assertEquals(403, bridge.get("/servers", "origin", "https://app.example").status());
      assertTrue(statusLine(bridge, "bridge.example").startsWith("HTTP/1.1 403"));
    }
  }

  @Test
  void riskLevelsInListsAreReloaded() throws Exception {
    try (TestBridge bridge = TestBridge.of("{" + SERVERS).awaitReady("s")) {
      for (String list : List.of("/servers/s/tools", "/tools")) {
        bridge.reload("{" + SERVERS);
        Answer before = bridge.get(list);
        assertEquals("2 tool", level(before, "echo"));
        assertEquals("2 annotation", level(before, "effect"));
        assertEquals("1 none", level(before, "big"));
        assertEquals(304, bridge.get(list, "if-none-match", before.header("etag")).status());

        bridge.reload("{'risk':{'default':1,'annotations':'ignore'}," + SERVERS);

        Answer after = bridge.get(list, "if-none-match", before.header("etag"));
        assertEquals(200, after.status());
        assertEquals("2 tool", level(after, "echo"));
        assertEquals("1 default", level(after, "effect"));
      }
      assertFalse(bridge.call("effect", "{}").body().has("requires_confirmation"));
      bridge.reload("{" + SERVERS);
      assertTrue(bridge.call("effect", "{}").body().has("requires_confirmation"));
    }
  }

  private static String level(Answer list, String tool) {
    return list.body()
        .path("tools")
        .valueStream()
        .filter(each -> each.path("name").asText().equals(tool))
        .map(each -> each.path("risk_level").asInt() + " " + each.path("risk_reason").asText())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theStreamLimitIsReloaded() throws Exception {
    try (TestBridge bridge = TestBridge.of("{" + SERVERS)) {
      bridge.reload("{'http':{'maxStreams':1}," + SERVERS);

      try (Socket stream = send(bridge, "GET /events HTTP/1.1", "127.0.0.1")) {
        stream.getInputStream().read();
        assertEquals("overloaded", bridge.get("/events").code());
      }
    }
  }

  /** A reload does not change the listener's address, so its keys must not be removed. */
  @Test
  void aReloadThatRemovesThePublicListenersKeysIsRejected() throws Exception {
    String key = ApiKeys.generate();
    String open =
        "{'http':{'host':'0.0.0.0'},'auth':{'keys':[%s]},"
            .formatted(TestBridge.key("boss", key, "'read'"));
    try (TestBridge bridge = TestBridge.of(open + SERVERS)) {

      assertThrows(ConfigException.class, () -> bridge.reload("{" + SERVERS));

      assertEquals(401, bridge.get("/servers").status());
      assertEquals(200, bridge.get("/servers", "x-api-key", key).status());
    }
  }

  private static String statusLine(TestBridge bridge, String host) throws Exception {
    try (Socket socket = send(bridge, "GET /health/live HTTP/1.1", host)) {
      return new String(socket.getInputStream().readNBytes(20), StandardCharsets.UTF_8);
    }
  }

  private static Socket send(TestBridge bridge, String line, String host) throws Exception {
    Socket socket = new Socket("127.0.0.1", bridge.port());
    OutputStream out = socket.getOutputStream();
    out.write((line + "\r\nHost: " + host + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
    return socket;
  }

  private static String path(Answer pending) {
    return "/confirmations/" + pending.at("/confirmation_id");
  }
}
