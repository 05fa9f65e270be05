package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Invalid and ambiguous messages at the MCP endpoints. */
@Tag("mcp")
class McpEnvelopeIT {
  @TempDir static Path folder;
  private static Path effects;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    effects = folder.resolve("effects");
    bridge =
        TestBridge.scripted("'risk':{'tools':{'effect':1}},'env':{'EFFECTS':'" + effects + "'}");
  }

  @AfterEach
  void assertNoEffect() throws Exception {
    bridge.assertAlive();
    assertFalse(Files.exists(effects));
  }

  private static McpClient client() {
    return new McpClient(bridge.uri("/servers/s/mcp"), "{}");
  }

  private static McpClient session() throws Exception {
    return client().initialized();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "not json|-32700",
        "''|-32700",
        "[]|-32600",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]|-32600",
        "5|-32600",
        "{}|-32600",
        "{\"id\":1,\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"Method\":\"tools/call\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"tools/call\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}|-32602",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{}}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}|-32600",
        "{\"jsonrpc\":\"2.0\",\"result\":{}}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"x\"}|-32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}|-32602",
      })
  void invalidMessageIsRejectedWithItsCode(String body, int code) throws Exception {
    Reply reply = session().post(body);

    assertEquals(400, reply.status());
    assertEquals(code, reply.errorCode(), reply.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "params|[]",
        "params|[{\"name\":\"effect\"}]",
        "params|\"effect\"",
        "params|{\"name\":\"echo\",\"name\":\"effect\"}",
        "params|{\"name\":\"effect\",\"arguments\":\"{}\"}",
        "params|{\"name\":\"effect\",\"arguments\":[]}",
        "params|{\"name\":\"effect\",\"arguments\":null}",
        "params|{\"name\":7,\"arguments\":{}}",
        "params|{\"name\":[\"effect\"],\"arguments\":{}}",
        "params|{\"arguments\":{}}",
        "params|{\"Name\":\"effect\"}",
        "param\u017f|{\"name\":\"effect\"}",
        "Params|{\"name\":\"effect\"}",
      })
  void ambiguousCallIsRejected(String member, String params) throws Exception {
    Reply reply =
        session()
            .post(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"%s\":%s}"
                    .formatted(member, params));

    assertEquals(-32602, reply.errorCode(), reply.toString());
    assertEquals(1, reply.last().path("id").asInt());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"name\":\"echo\",\"name\":\"effect\"|echo|-32602",
        "\"name\":\"echo\",\"name\":\"effect\"|effect|-32602",
        "\"name\":\"effect\",\"arguments\":\"{}\"|effect|-32602",
        "\"name\":\"effect\",\"arguments\":[]|effect|-32602",
        "\"name\":\"effect\",\"arguments\":{\"ms\":1,\"ms\":2}|effect|-32600",
        "\"name\":7|7|-32602",
        "\"arguments\":{}|effect|-32602",
        "\"Name\":\"effect\"|effect|-32602",
      })
  void ambiguousStatelessCallIsRejected(String members, String nameHeader, int code)
      throws Exception {
    Reply reply =
        client()
            .post(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                    + members
                    + ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                    + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
                "mcp-protocol-version",
                "2026-07-28",
                "mcp-method",
                "tools/call",
                "mcp-name",
                nameHeader);

    assertEquals(code, reply.errorCode(), reply.toString());
  }

  @Test
  void duplicateArgumentMembersAreRejected() throws Exception {
    Reply reply = session().call("effect", "{\"ms\":1,\"ms\":2}");

    assertEquals(-32600, reply.errorCode(), reply.toString());
  }

  @Test
  void absentArgumentsAreAnEmptyObject() throws Exception {
    for (String arguments : List.of("", ",\"arguments\":{}")) {
      Reply reply = session().request("tools/call", "{\"name\":\"echo\"" + arguments + "}");
      assertEquals("{}", reply.result().path("structuredContent").toString());
    }
  }

  @Test
  void idIsReturnedUnchanged() throws Exception {
    McpClient client = session();
    for (String id : List.of("0", "-1", "\"1\"", "\"\"", "\"" + "i".repeat(1 << 20) + "\"")) {
      Reply reply = client.post("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"ping\"}");
      assertEquals(id, reply.last().path("id").toString());
    }
  }
}
