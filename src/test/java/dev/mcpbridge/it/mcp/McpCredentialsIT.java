package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A caller's own credential for an API, in MCP sessions and in stateless requests. */
@Tag("mcp")
class McpCredentialsIT {
  private static final String HEADER = "x-upstream-authorization";
  private static final String CALL = "{\"name\":\"get\",\"arguments\":{}}";

  @AutoClose private static EchoApi api;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    api =
        EchoApi.start()
            .on("/openapi.json", ApiDocument.create().with("get", "/get", "get", "").asScript());
    bridge =
        TestBridge.of(
                "{'mcpServers':{'s':{'type':'openapi','url':'"
                    + api.url("/openapi.json")
                    + "','auth':{'type':'bearer','token':'of-the-operator'}}}}")
            .awaitReady("s");
  }

  @Test
  void credentialAppliesOnlyToItsRequestOfASession() throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();

    client.request("tools/call", CALL).result();
    assertEquals(List.of("Bearer of-the-operator"), api.lastRequest().headers("authorization"));

    client.with(HEADER, "Bearer of-ann");
    client.request("tools/call", CALL).result();
    assertEquals(List.of("Bearer of-ann"), api.lastRequest().headers("authorization"));

    client.with(HEADER, "Bearer of-bob");
    client.request("tools/call", CALL).result();
    assertEquals(List.of("Bearer of-bob"), api.lastRequest().headers("authorization"));

    client.with(HEADER, null);
    client.request("tools/call", CALL).result();
    assertEquals(List.of("Bearer of-the-operator"), api.lastRequest().headers("authorization"));
  }

  @Test
  void statelessRequestUsesItsOwnCredential() throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}");

    client.with(HEADER, "Bearer of-ann");
    client.stateless("tools/call", "\"name\":\"get\",\"arguments\":{}").result();

    assertEquals(List.of("Bearer of-ann"), api.lastRequest().headers("authorization"));
  }

  @ParameterizedTest
  @ValueSource(strings = {" ", "Bearer a\tb"})
  void invalidCredentialIsRejectedInASession(String value) throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();
    int before = api.requests().size();

    client.with(HEADER, value);

    assertEquals(400, client.request("tools/call", CALL).status());
    assertEquals(before, api.requests().size());
  }
}
