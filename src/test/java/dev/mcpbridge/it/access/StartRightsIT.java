package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.FreePorts;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Permissions to start servers over the API. */
@Tag("access")
class StartRightsIT {
  private static final String BRIEF = TestBridge.json(TestBridge.entry("'id':'brief'"));

  @Test
  @EnabledOnOs(OS.LINUX)
  void withoutKeysAToolCannotStartStopRestartOrApproveServers() throws Exception {
    try (TestBridge bridge = TestBridge.scripted("")) {
      for (List<String> refused :
          List.of(
              List.of("POST", "/servers"),
              List.of("DELETE", "/servers/s"),
              List.of("POST", "/servers/s/restart"),
              List.of("GET", "/servers/s/pins"),
              List.of("POST", "/servers/s/pins"))) {
        assertEquals(
            "403", sendFromTool(bridge, refused.get(0), refused.get(1)), refused.toString());
      }

      assertEquals("200", sendFromTool(bridge, "GET", "/servers"));
      assertEquals("200", sendFromTool(bridge, "POST", "/servers/s/tools/echo"));
      assertEquals(404, bridge.get("/servers/brief").status());
      assertEquals(201, bridge.post("/servers", BRIEF).status());
    }
  }

  /** Lets a tool of the server send a request; returns the response status. */
  private static String sendFromTool(TestBridge bridge, String method, String path)
      throws Exception {
    String body = method.equals("POST") ? ",\"body\":" + BRIEF : "";
    String request =
        "{\"method\":\"" + method + "\",\"url\":\"" + bridge.uri(path) + "\"" + body + "}";
    return bridge.call("send", request).firstText();
  }

  @Test
  void withoutKeysTheBridgeAsItsOwnApiCannotStartServers() throws Exception {
    int port = FreePorts.find(1).get(0);
    String document = "http://127.0.0.1:" + port + "/openapi.json";
    try (TestBridge bridge =
        TestBridge.at(port, "{'mcpServers':{'self':{'type':'openapi','url':'" + document + "'}}}")
            .awaitReady("self")) {

      Answer started = bridge.post("/servers/self/tools/startServer", "{\"body\":" + BRIEF + "}");
      Answer listed = bridge.post("/servers/self/tools/listServers", "{}");

      assertTrue(started.body().path("isError").asBoolean(), started.toString());
      assertTrue(started.text().contains("without a key"), started.text());
      assertEquals(404, bridge.get("/servers/brief").status());
      assertTrue(listed.text().contains("self"), listed.text());
    }
  }

  @Test
  void startRestrictionsApplyToAdministratorsToo() throws Exception {
    String key = ApiKeys.generate();
    String auth =
        "'auth':{'keys':[{'name':'boss','sha256':'%s','scopes':['read','admin']}]}"
            .formatted(ApiKeys.fingerprint(key));
    String[] boss = {"authorization", "Bearer " + key};
    try (TestBridge bridge =
        TestBridge.of("{'http':{'allowedCommands':['" + TestBridge.java() + "']}," + auth + "}")) {
      Answer refused = bridge.post("/servers", "{\"id\":\"x\",\"command\":\"touch\"}", boss);
      assertEquals(403, refused.status(), refused.toString());
      assertTrue(refused.text().contains("http.allowedCommands"), refused.text());
      assertEquals(201, bridge.post("/servers", BRIEF, boss).status());

      bridge.reload("{'http':{'allowStart':false}," + auth + "}");

      bridge.until(() -> bridge.get("/servers/brief", boss).status() == 404);
      refused = bridge.post("/servers", BRIEF, boss);
      assertEquals(403, refused.status(), refused.toString());
      assertTrue(refused.text().contains("http.allowStart"), refused.text());
    }
  }
}
