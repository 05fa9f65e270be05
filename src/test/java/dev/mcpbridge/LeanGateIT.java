package dev.mcpbridge;

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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gate in front of a tool that was found: it asks about the tool that is meant. */
class LeanGateIT {
  private static final String PATH = "/mcp?discovery=search";
  private static final String YES = "{\"action\":\"accept\",\"content\":{\"confirm\":true}}";

  @TempDir static Path folder;
  private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    bridge =
        TestBridge.of(
            "{'mcpServers':{'s':"
                + TestBridge.entry(
                    "'env':{'EFFECTS':'"
                        + folder.resolve("effects")
                        + "'},'risk':{'tools':{'effect':2,'argv':3}}")
                + "}}");
    bridge.until(() -> bridge.state("s").equals("ready"));
  }

  @BeforeEach
  void forget() throws Exception {
    Files.deleteIfExists(folder.resolve("effects"));
  }

  @AfterAll
  static void stop() throws Exception {
    bridge.close();
  }

  private static String meant(String tool, String arguments) {
    return "{\"name\":\"" + tool + "\",\"arguments\":" + arguments + "}";
  }

  private static JsonNode turn(String arguments) throws Exception {
    return bridge
        .post("/toolcall?discovery=search", OPENAI_CHAT.turn(call("only", "call_tool", arguments)))
        .body()
        .at("/tool_responses/0");
  }

  @Test
  void aSessionIsAskedAboutTheToolThatIsMeantAndItRunsOnce() throws Exception {
    List<JsonNode> questions = new ArrayList<>();
    McpClient client =
        new McpClient(bridge.uri(PATH), "{\"elicitation\":{}}")
            .answering(
                question -> {
                  questions.add(question);
                  return YES;
                });
    client.initialize();

    Reply reply = client.call("call_tool", meant("s__effect", "{\"ms\":0,\"mark\":\"1.10\"}"));

    assertEquals("done", reply.said());
    assertEquals(1, questions.size());
    String shown = questions.get(0).at("/params/message").asText();
    assertTrue(shown.contains("effect") && shown.contains("\"mark\":\"1.10\""), shown);
    assertFalse(shown.contains("call_tool"), shown);
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void aStatelessClientComesBackWithTheApprovalOfThisCallAndNoOther() throws Exception {
    McpClient client = new McpClient(bridge.uri(PATH), "{\"elicitation\":{}}");
    String call =
        "\"name\":\"call_tool\",\"arguments\":" + meant("s__effect", "{\"ms\":0,\"mark\":7}");

    JsonNode asked = client.stateless("tools/call", call).result();

    assertEquals("input_required", asked.path("resultType").asText(), asked.toString());
    String shown = asked.at("/inputRequests").toString();
    assertTrue(shown.contains("effect") && shown.contains("mark"), shown);
    assertFalse(Files.exists(folder.resolve("effects")));
    String yes =
        ",\"requestState\":"
            + asked.path("requestState")
            + ",\"inputResponses\":{\"confirmation\":"
            + YES
            + "}";
    String other = call.replace("7", "8");
    assertEquals(-32602, client.stateless("tools/call", other + yes).errorCode());
    assertEquals("done", client.stateless("tools/call", call + yes).said());
    assertEquals(-32602, client.stateless("tools/call", call + yes).errorCode());
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void aModelsCallWaitsForAHumanWhoSeesTheToolThatIsMeant() throws Exception {
    JsonNode waiting = turn(meant("s__effect", "{\"ms\":0,\"mark\":9}"));

    assertEquals("confirmation_required", waiting.path("outcome").asText(), waiting.toString());
    JsonNode confirmation = waiting.path("confirmation");
    assertTrue(confirmation.toString().contains("effect"), confirmation.toString());
    assertTrue(confirmation.toString().contains("mark"), confirmation.toString());
    assertFalse(confirmation.toString().contains("call_tool"), confirmation.toString());
    assertFalse(Files.exists(folder.resolve("effects")));

    String decision = "{\"confirm\":true,\"token\":" + confirmation.path("token") + "}";
    String id = confirmation.path("confirmation_id").asText();
    assertEquals("done", bridge.post("/confirmations/" + id, decision).said());
    assertTrue(bridge.post("/confirmations/" + id, decision).status() >= 400);
    assertEquals(1, Files.readAllLines(folder.resolve("effects")).size());
  }

  @Test
  void aToolThatNeedsAContainerIsRefusedWithoutOne() throws Exception {
    McpClient client = new McpClient(bridge.uri(PATH), "{}");
    client.initialize();
    String members = "\"name\":\"call_tool\",\"arguments\":" + meant("s__argv", "{}");

    Reply session = client.request("tools/call", "{" + members + "}");
    Reply stateless = new McpClient(bridge.uri(PATH), "{}").stateless("tools/call", members);

    for (Reply reply : List.of(session, stateless)) {
      boolean isError = reply.last().at("/result/isError").asBoolean();
      assertTrue(reply.last().has("error") || isError, reply.toString());
      assertTrue(reply.text().contains("isolation_unavailable"), reply.text());
    }
    JsonNode response = turn(meant("s__argv", "{}"));
    assertEquals("failed", response.path("outcome").asText(), response.toString());
    assertEquals("isolation_unavailable", response.at("/problem/code").asText());
  }
}
