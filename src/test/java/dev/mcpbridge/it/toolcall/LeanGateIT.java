package dev.mcpbridge.it.toolcall;

import static dev.mcpbridge.fixture.ModelFormat.OPENAI_CHAT;
import static dev.mcpbridge.fixture.ModelFormat.call;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.TestBridge;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gate in lean discovery: confirmations show the called tool instead of call_tool. */
@Tag("toolcall")
class LeanGateIT {
  private static final String PATH = "/mcp?discovery=search";
  private static final String YES = "{\"action\":\"accept\",\"content\":{\"confirm\":true}}";

  @TempDir static Path folder;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.scripted(
            "'env':{'EFFECTS':'%s'},'risk':{'tools':{'effect':2,'argv':3}}"
                .formatted(folder.resolve("effects")));
  }

  @BeforeEach
  void deleteEffects() throws Exception {
    Files.deleteIfExists(folder.resolve("effects"));
  }

  private static String callArguments(String tool, String arguments) {
    return "{\"name\":\"" + tool + "\",\"arguments\":" + arguments + "}";
  }

  private static JsonNode turn(String arguments) throws Exception {
    return bridge
        .post("/toolcall?discovery=search", OPENAI_CHAT.turn(call("only", "call_tool", arguments)))
        .body()
        .at("/tool_responses/0");
  }

  @Test
  void sessionConfirmsTheCalledToolWhichRunsOnce() throws Exception {
    List<JsonNode> questions = new ArrayList<>();
    McpClient client =
        new McpClient(bridge.uri(PATH), "{\"elicitation\":{}}")
            .withRequestHandler(
                question -> {
                  questions.add(question);
                  return YES;
                });
    client.initialize();

    Reply reply =
        client.call("call_tool", callArguments("s__effect", "{\"ms\":0,\"mark\":\"1.10\"}"));

    assertEquals("done", reply.firstText());
    assertEquals(1, questions.size());
    String shown = questions.get(0).at("/params/message").asText();
    assertTrue(shown.contains("effect") && shown.contains("\"mark\":\"1.10\""), shown);
    assertFalse(shown.contains("call_tool"), shown);
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void statelessApprovalIsValidForOneCallOnly() throws Exception {
    McpClient client = new McpClient(bridge.uri(PATH), "{\"elicitation\":{}}");
    String call =
        "\"name\":\"call_tool\",\"arguments\":"
            + callArguments("s__effect", "{\"ms\":0,\"mark\":7}");

    JsonNode pending = client.stateless("tools/call", call).result();

    assertEquals("input_required", pending.path("resultType").asText(), pending.toString());
    String shown = pending.at("/inputRequests").toString();
    assertTrue(shown.contains("effect") && shown.contains("mark"), shown);
    assertFalse(Files.exists(folder.resolve("effects")));
    String approval =
        ",\"requestState\":%s,\"inputResponses\":{\"confirmation\":%s}"
            .formatted(pending.path("requestState"), YES);
    String changedCall = call.replace("7", "8");
    assertEquals(-32602, client.stateless("tools/call", changedCall + approval).errorCode());
    assertEquals("done", client.stateless("tools/call", call + approval).firstText());
    assertEquals(-32602, client.stateless("tools/call", call + approval).errorCode());
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void modelCallWaitsForConfirmationOfTheCalledTool() throws Exception {
    JsonNode waiting = turn(callArguments("s__effect", "{\"ms\":0,\"mark\":9}"));

    assertEquals("confirmation_required", waiting.path("outcome").asText(), waiting.toString());
    JsonNode confirmation = waiting.path("confirmation");
    assertTrue(confirmation.toString().contains("effect"), confirmation.toString());
    assertTrue(confirmation.toString().contains("mark"), confirmation.toString());
    assertFalse(confirmation.toString().contains("call_tool"), confirmation.toString());
    assertFalse(Files.exists(folder.resolve("effects")));

    String decision = "{\"confirm\":true,\"token\":" + confirmation.path("token") + "}";
    String id = confirmation.path("confirmation_id").asText();
    assertEquals("done", bridge.post("/confirmations/" + id, decision).firstText());
    assertTrue(bridge.post("/confirmations/" + id, decision).status() >= 400);
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void toolIsRejectedWithoutTheContainerItNeeds() throws Exception {
    McpClient client = new McpClient(bridge.uri(PATH), "{}").initialized();
    String members = "\"name\":\"call_tool\",\"arguments\":" + callArguments("s__argv", "{}");

    Reply session = client.request("tools/call", "{" + members + "}");
    Reply stateless = new McpClient(bridge.uri(PATH), "{}").stateless("tools/call", members);

    for (Reply reply : List.of(session, stateless)) {
      boolean isError = reply.last().at("/result/isError").asBoolean();
      assertTrue(reply.last().has("error") || isError, reply.toString());
      assertTrue(reply.text().contains("isolation_unavailable"), reply.text());
    }
    JsonNode response = turn(callArguments("s__argv", "{}"));
    assertEquals("failed", response.path("outcome").asText(), response.toString());
    assertEquals("isolation_unavailable", response.at("/problem/code").asText());
  }
}
