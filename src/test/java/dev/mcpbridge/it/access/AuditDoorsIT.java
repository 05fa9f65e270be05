package dev.mcpbridge.it.access;

import static dev.mcpbridge.fixture.HostProgram.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.api.Tools;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.EffectLog;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.HttpSseClient;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TrailFiles;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit trail has every call, at whichever door it came in. */
@Tag("access")
class AuditDoorsIT {
  /** One that leaves a mark, one that fails, and one that is held until it is approved. */
  private static final List<String> TOOLS = List.of("effect", "fail", "argv");

  private static final String ARGUMENTS = "{\"note\":\"s c\"}";
  private static final String KEY = ApiKeys.generate();
  private static final String[] WITH_KEY = {"authorization", "Bearer " + KEY};

  private static final String CONFIG =
      "{'audit':{'folder':'%s'},"
          + TestBridge.auth(TestBridge.key("boss", KEY, "'read','call','approve'"))
          + ","
          + "'profiles':{'p':{'servers':{'s':{'tools':['*'],'resources':['*'],'prompts':['*']}}}},"
          + "'mcpServers':{%s}}";

  @TempDir private Path folder;

  /** Calls a tool and waits for its answer. */
  private interface Door {
    void call(String tool) throws Exception;
  }

  /** The doors of a bridge that is mounted in a program. */
  private record Doors(HostProgram program, String url) {
    List<Door> all() throws Exception {
      McpClient session =
          new McpClient(URI.create(url + "/servers/s/mcp"), "{}", WITH_KEY).initialized();
      McpClient all = new McpClient(URI.create(url + "/mcp"), "{}", WITH_KEY).initialized();
      McpClient ofProfile =
          new McpClient(URI.create(url + "/profiles/p/mcp"), "{}", WITH_KEY).initialized();
      McpClient stateless = new McpClient(URI.create(url + "/servers/s/mcp"), "{}", WITH_KEY);
      Tools tools = program.bridge().tools();
      return List.of(
          tool -> post("/servers/s/tools/" + tool, ARGUMENTS),
          tool -> post("/servers/s/tools/" + tool, ARGUMENTS, "accept", "text/event-stream"),
          this::callInBackground,
          tool ->
              post(
                  "/batch",
                  "{\"calls\":[{\"server\":\"s\",\"tool\":\""
                      + tool
                      + "\",\"arguments\":"
                      + ARGUMENTS
                      + "}]}"),
          tool -> post("/profiles/p/tools/s__" + tool, ARGUMENTS),
          tool -> session.call(tool, ARGUMENTS),
          tool -> all.call("s__" + tool, ARGUMENTS),
          tool -> ofProfile.call("s__" + tool, ARGUMENTS),
          tool ->
              stateless.stateless(
                  "tools/call", "\"name\":\"" + tool + "\",\"arguments\":" + ARGUMENTS),
          this::callOverSse,
          tool -> post("/toolcall", turn(tool)),
          tool -> post("/profiles/p/toolcall", turn(tool)),
          tool -> get(tools.call("s__" + tool, ARGUMENTS)),
          this::callApproved);
    }

    HttpResponse<String> post(String path, String body, String... headers) throws Exception {
      return send(url + path, body, headers);
    }

    private HttpResponse<String> send(String to, String body, String... headers) throws Exception {
      List<String> all = new ArrayList<>(List.of(WITH_KEY));
      all.addAll(List.of(headers));
      return program.send(to, body, all.toArray(String[]::new));
    }

    private static String turn(String tool) {
      return ("{\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":"
              + "{\"name\":\"s__%s\",\"arguments\":%s}}]}")
          .formatted(tool, Json.mapper().getNodeFactory().textNode(ARGUMENTS));
    }

    private void callInBackground(String tool) throws Exception {
      HttpResponse<String> accepted =
          post("/servers/s/tools/" + tool, ARGUMENTS, "prefer", "respond-async");
      String call = Json.tree(accepted.body()).path("call_id").asText();
      assertTimeoutPreemptively(Duration.ofSeconds(20), () -> awaitEnd("/calls/" + call));
    }

    private void awaitEnd(String call) throws Exception {
      HttpResponse<String> shown = send(url + call, null);
      while (shown.body().contains("\"status\":\"running\"")) {
        shown = send(url + call, null);
      }
      assertEquals(200, shown.statusCode(), shown.body());
    }

    private void callApproved(String tool) throws Exception {
      JsonNode answer = Json.tree(post("/servers/s/tools/" + tool, ARGUMENTS).body());
      if (answer.has("confirmation_id")) {
        String path = "/confirmations/" + answer.path("confirmation_id").asText();
        String token = answer.path("token").asText();
        HttpResponse<String> approved =
            post(path, "{\"confirm\":true,\"token\":\"" + token + "\"}");
        assertEquals(200, approved.statusCode(), approved.body());
      }
    }

    private void callOverSse(String tool) throws Exception {
      try (HttpSseClient sse = new HttpSseClient(URI.create(url + "/servers/s/sse"), WITH_KEY)) {
        sse.request("tools/call", "{\"name\":\"" + tool + "\",\"arguments\":" + ARGUMENTS + "}");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void everyCallHasOneDecisionBeforeItRunsAndOneOutcome(long seed) throws Exception {
    // Given
    EffectLog effects = new EffectLog(folder);
    String servers = effects.servers(List.of("s"), "'risk':{'tools':{'argv':2,'effect':1}}");
    Path trail = folder.resolve("trail");
    int made;
    try (HostProgram program = HostProgram.with(CONFIG.formatted(trail, servers))) {
      Doors doors = new Doors(program, program.mountedAt("/bridge"));
      List<Runnable> calls = new ArrayList<>();
      for (Door door : doors.all()) {
        for (String tool : TOOLS) {
          calls.add(() -> run(door, tool));
        }
      }

      // When
      Collections.shuffle(calls, new Random(seed));
      calls.forEach(Runnable::run);
      doors.post("/servers/s/prompts/greet", "{}");
      doors.send(doors.url() + "/servers/s/resources/test%3A%2F%2Fa", null);
      made = calls.size() + 2 + 1; // the approved call has a second run
    }

    // Then
    List<JsonNode> records = TrailFiles.records(trail);
    Map<String, JsonNode> decisions = TrailFiles.decisions(records);
    assertEquals(
        made,
        decisions.size(),
        () -> String.join("\n", decisions.values().stream().map(JsonNode::toString).toList()));
    long ran =
        TrailFiles.of(records, "call.outcome").stream()
            .filter(each -> each.path("name").asText().equals("effect"))
            .filter(each -> each.path("executed").asText().equals("yes"))
            .count();
    assertEquals(effects.effects().size(), ran);
    Set<String> seen = new HashSet<>();
    decisions.values().forEach(decision -> seen.add(decision.path("door").asText()));
    assertEquals(Set.of("rest", "mcp", "toolcall", "program"), seen);
  }

  private static void run(Door door, String tool) {
    try {
      door.call(tool);
    } catch (Exception e) {
      throw new AssertionError(tool, e);
    }
  }
}
