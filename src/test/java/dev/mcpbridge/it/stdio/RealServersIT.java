package dev.mcpbridge.it.stdio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jgit.api.Git;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Published MCP servers from npm and PyPI. */
@Tag("stdio")
class RealServersIT {
  @TempDir Path folder;

  @Test
  void everythingToolsWithoutClientFeaturesSucceed() throws Exception {
    Map<String, String> arguments = new HashMap<>();
    arguments.put("echo", "{\"message\":\"hi\"}");
    arguments.put("get-sum", "{\"a\":2,\"b\":3}");
    arguments.put("get-annotated-message", "{\"messageType\":\"success\",\"includeImage\":true}");
    arguments.put("get-resource-links", "{\"count\":2}");
    arguments.put("get-resource-reference", "{\"resourceType\":\"Text\",\"resourceId\":1}");
    arguments.put("get-structured-content", "{\"location\":\"Chicago\"}");
    arguments.put("trigger-long-running-operation", "{\"duration\":1,\"steps\":2}");
    arguments.put("gzip-file-as-resource", null);
    arguments.put("simulate-research-query", null);
    arguments.put("trigger-elicitation-request", null);
    arguments.put("trigger-sampling-request", null);
    try (TestBridge bridge = bridge("everything", node("server-everything", "stdio"))) {
      JsonNode tools = bridge.get("/servers/everything/tools").body().path("tools");
      assertTrue(tools.size() >= 10);
      for (JsonNode tool : tools) {
        String name = tool.path("name").asText();
        String body = arguments.getOrDefault(name, "{}");
        if (body != null) {
          Answer answer = bridge.post("/servers/everything/tools/" + name, body);
          assertEquals(200, answer.status(), name + " " + answer);
          assertFalse(answer.body().path("isError").asBoolean(), name + " " + answer);
        }
      }
      assertTrue(
          bridge
              .post("/servers/everything/tools/get-sum", "{\"a\":2,\"b\":3}")
              .at("/content/0/text")
              .contains("5"));
      String stream =
          bridge
              .post(
                  "/servers/everything/tools/trigger-long-running-operation",
                  "{\"duration\":1,\"steps\":4}",
                  "accept",
                  "text/event-stream")
              .text();
      assertEquals(4, stream.lines().filter("event: progress"::equals).count(), stream);
      assertTrue(stream.contains("event: result"));
      assertEquals(422, bridge.post("/servers/everything/tools/get-sum", "{\"a\":\"x\"}").status());
      assertFalse(bridge.get("/servers/everything/resources").body().path("resources").isEmpty());
      assertFalse(bridge.get("/servers/everything/prompts").body().path("prompts").isEmpty());
    }
  }

  @Test
  void requestsOfEverythingReachTheCallingClient() throws Exception {
    try (TestBridge bridge = bridge("everything", node("server-everything", "stdio"))) {
      McpClient client =
          new McpClient(bridge.uri("/mcp"), "{\"elicitation\":{},\"sampling\":{}}")
              .withRequestHandler(
                  request ->
                      request.path("method").asText().equals("sampling/createMessage")
                          ? "{\"role\":\"assistant\",\"model\":\"m\",\"content\":"
                              + "{\"type\":\"text\",\"text\":\"a haiku\"}}"
                          : "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}")
              .initialized();

      McpClient.Reply sampled =
          client.call(
              "everything__trigger-sampling-request", "{\"prompt\":\"hi\",\"maxTokens\":9}");
      assertTrue(sampled.text().contains("a haiku"), sampled.text());
      McpClient.Reply elicited = client.call("everything__trigger-elicitation-request", "{}");
      assertTrue(elicited.text().contains("Ada"), elicited.text());
    }
  }

  @Test
  void filesystemWritesOnlyAfterConfirmation() throws Exception {
    Path file = folder.toRealPath().resolve("note.txt");
    String entry =
        node("server-filesystem", folder.toRealPath().toString())
            .replaceFirst("}$", ",'risk':{'tools':{'write_file':2}}}");
    try (TestBridge bridge = bridge("disk", entry)) {
      String body = "{\"path\":\"" + file + "\",\"content\":\"hello\"}";
      JsonNode pending = bridge.post("/servers/disk/tools/write_file", body).body();
      assertTrue(pending.path("requires_confirmation").asBoolean(), pending.toString());
      assertFalse(Files.exists(file));

      bridge.post(
          "/confirmations/" + pending.path("confirmation_id").asText(),
          "{\"confirm\":true,\"token\":\"" + pending.path("token").asText() + "\"}");

      assertEquals("hello", Files.readString(file));
      assertTrue(
          bridge
              .post("/servers/disk/tools/read_text_file", "{\"path\":\"" + file + "\"}")
              .text()
              .contains("hello"));
    }
  }

  @Test
  void memoryAndSequentialThinkingWork() throws Exception {
    String memory =
        node("server-memory")
            .replaceFirst(
                "}$", ",'env':{'MEMORY_FILE_PATH':'" + folder.resolve("memory.jsonl") + "'}}");
    try (TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'memory':%s,'thinking':%s}}"
                .formatted(memory, node("server-sequential-thinking")))) {
      Answer created =
          bridge.post(
              "/servers/memory/tools/create_entities",
              "{\"entities\":[{\"name\":\"bridge\",\"entityType\":\"thing\",\"observations\":[\"ü\"]}]}");
      assertEquals(200, created.status(), created.text());
      assertTrue(bridge.post("/servers/memory/tools/read_graph", "{}").text().contains("bridge"));
      Answer thought =
          bridge.post(
              "/servers/thinking/tools/sequentialthinking",
              "{\"thought\":\"so\",\"nextThoughtNeeded\":false,\"thoughtNumber\":1,\"totalThoughts\":1}");
      assertEquals(200, thought.status(), thought.text());
    }
  }

  @Test
  void pythonServersWork() throws Exception {
    Path time = Requirements.pythonServer("mcp-server-time");
    Path git = Requirements.pythonServer("mcp-server-git");
    try (Git created = Git.init().setDirectory(folder.toFile()).call()) {
      Files.writeString(folder.resolve("a"), "x");
      created.add().addFilepattern(".").call();
    }
    try (TestBridge bridge =
        TestBridge.of(
            "{'mcpServers':{'time':{'command':'" + time + "'},'git':{'command':'" + git + "'}}}")) {
      Answer now =
          bridge.post("/servers/time/tools/get_current_time", "{\"timezone\":\"Europe/Zurich\"}");
      assertEquals(200, now.status(), now.text());
      assertTrue(now.text().contains("Europe/Zurich"), now.text());
      Answer status =
          bridge.post("/servers/git/tools/git_status", "{\"repo_path\":\"" + folder + "\"}");
      assertTrue(status.text().contains("new file"), status.text());
    }
  }

  private static TestBridge bridge(String name, String entry) throws Exception {
    return TestBridge.of("{'mcpServers':{'" + name + "':" + entry + "}}");
  }

  private static String node(String server, String... arguments) {
    StringBuilder entry = new StringBuilder("{'command':'node','args':['");
    entry.append(Requirements.npmServer(server)).append("'");
    for (String argument : arguments) {
      entry.append(",'").append(argument).append("'");
    }
    return entry.append("]}").toString();
  }
}
