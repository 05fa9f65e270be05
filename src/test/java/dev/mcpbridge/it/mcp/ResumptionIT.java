package dev.mcpbridge.it.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Resumption of session streams after a lost connection. */
@Tag("mcp")
class ResumptionIT {
  @AutoClose private static final TestBridge bridge = TestBridge.scripted("");

  private McpClient client;

  private record Event(String id, String data) {}

  @BeforeEach
  void openSession() throws Exception {
    client = new McpClient(bridge.uri("/servers/s/mcp"), "{\"elicitation\":{}}");
    client.initialize();
  }

  @Test
  void brokenStreamOfACallIsResumed() throws Exception {
    Event lastEvent;
    try (BufferedReader stream = call("progress", "{\"steps\":3,\"ms\":3000}")) {
      assertEquals("", next(stream).data());
      lastEvent = next(stream);
      assertTrue(lastEvent.data().contains("\"progress\":1"), lastEvent.data());
    }

    List<Event> rest = all(resume(lastEvent.id()));

    assertEquals(3, rest.size(), rest.toString());
    assertTrue(rest.get(0).data().contains("\"progress\":2"), rest.toString());
    assertTrue(rest.get(1).data().contains("\"progress\":3"), rest.toString());
    assertTrue(rest.get(2).data().contains("finished"), rest.toString());
  }

  @Test
  void responseIsKeptWhileTheClientIsDisconnected() throws Exception {
    Event firstEvent;
    try (BufferedReader stream = call("progress", "{\"steps\":1,\"ms\":3000}")) {
      firstEvent = next(stream);
    }
    bridge.until(() -> bridge.get("/servers/s").body().path("pending_calls").asInt() == 0);

    List<Event> rest = all(resume(firstEvent.id()));

    assertTrue(rest.get(rest.size() - 1).data().contains("finished"), rest.toString());
    assertEquals(400, resumeStatus(firstEvent.id()), "delivered events must not be kept");
  }

  @Test
  void resumptionReplacesALiveConnection() throws Exception {
    try (BufferedReader old = call("progress", "{\"steps\":1,\"ms\":3000}")) {
      Event firstEvent = next(old);

      List<Event> all = all(resume(firstEvent.id()));

      assertEquals(2, all.size(), all.toString());
      assertFalse(rest(old).stream().anyMatch(event -> event.data().contains("finished")));
    }
  }

  @Test
  void missedServerRequestIsReplayed() throws Exception {
    Event firstEvent;
    try (BufferedReader stream = call("ask", "{\"method\":\"elicitation/create\"}")) {
      firstEvent = next(stream);
    }

    try (BufferedReader stream = resume(firstEvent.id())) {
      String request = next(stream).data();
      assertTrue(request.contains("elicitation/create"), request);
      String id = request.replaceAll(".*\"id\":(\"[^\"]*\").*", "$1");
      client.post("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{\"action\":\"decline\"}}");

      String answer = next(stream).data();
      assertTrue(answer.contains("decline"), answer);
    }
  }

  @Test
  void missedListChangesAreReplayed() throws Exception {
    Event firstEvent;
    try (BufferedReader stream = listen()) {
      firstEvent = next(stream);
    }
    int before = bridge.get("/servers/s/tools").body().path("tools").size();
    bridge.call("grow", "{}");
    bridge.until(() -> bridge.get("/servers/s/tools").body().path("tools").size() > before);

    try (BufferedReader stream = resume(firstEvent.id())) {
      assertTrue(next(stream).data().contains("notifications/tools/list_changed"));
      bridge.call("grow", "{}");
      assertTrue(next(stream).data().contains("notifications/tools/list_changed"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"garbage", "7-1", "1", "-1", "1-", "99999999999999999999-1", "1-x", "0-0"})
  void unknownEventIdIsRejected(String id) throws Exception {
    assertEquals(400, resumeStatus(id));

    assertEquals("{}", client.request("ping", "{}").result().toString());
  }

  @Test
  void streamOfAnotherSessionCannotBeResumed() throws Exception {
    Event firstEvent;
    try (BufferedReader stream = call("progress", "{\"steps\":1,\"ms\":3000}")) {
      firstEvent = next(stream);
    }
    McpClient ownClient = client;
    openSession();

    assertEquals(400, resumeStatus(firstEvent.id()));

    client = ownClient;
    assertEquals(2, all(resume(firstEvent.id())).size());
  }

  @Test
  void slowResponseStartsItsStreamEarly() throws Exception {
    Event firstEvent;
    try (BufferedReader stream = call("sleep", "{\"ms\":9000}")) {
      firstEvent = next(stream);
      assertEquals("", firstEvent.data());
    }

    List<Event> rest = all(resume(firstEvent.id()));

    assertEquals(1, rest.size(), rest.toString());
    assertTrue(rest.get(0).data().contains("slept"), rest.toString());
  }

  @Test
  void slowInitializeOpensTheSession() throws Exception {
    String slow = TestBridge.entry("", "--slow-init", "6500");
    try (TestBridge starting = TestBridge.of("{'mcpServers':{'slow':" + slow + "}}")) {
      McpClient patient = new McpClient(starting.uri("/servers/slow/mcp"), "{}").initialized();

      assertEquals("{}", patient.call("echo", "{}").result().path("structuredContent").toString());
    }
  }

  private BufferedReader call(String tool, String arguments) throws Exception {
    String body =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\""
            + tool
            + "\",\"arguments\":"
            + arguments
            + ",\"_meta\":{\"progressToken\":\"t\"}}}";
    return stream(
        request()
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private BufferedReader listen() throws Exception {
    return stream(request());
  }

  private BufferedReader resume(String lastEventId) throws Exception {
    return stream(request().header("last-event-id", lastEventId));
  }

  private int resumeStatus(String lastEventId) throws Exception {
    HttpRequest request = request().header("last-event-id", lastEventId).build();
    return bridge.client().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private HttpRequest.Builder request() {
    return HttpRequest.newBuilder(bridge.uri("/servers/s/mcp"))
        .header("accept", "application/json, text/event-stream")
        .header("mcp-session-id", client.session());
  }

  private static BufferedReader stream(HttpRequest.Builder request) throws Exception {
    HttpResponse<InputStream> response =
        bridge.client().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    BufferedReader in =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    if (response.statusCode() != 200) {
      throw new AssertionError(response.statusCode() + " " + in.readLine());
    }
    return in;
  }

  private static List<Event> all(BufferedReader stream) throws IOException {
    try (stream) {
      return rest(stream);
    }
  }

  private static List<Event> rest(BufferedReader stream) throws IOException {
    List<Event> events = new ArrayList<>();
    for (Event event = next(stream); event != null; event = next(stream)) {
      events.add(event);
    }
    return events;
  }

  /** Null at the end of the stream. */
  private static Event next(BufferedReader stream) throws IOException {
    String id = null;
    for (String line = stream.readLine(); line != null; line = stream.readLine()) {
      if (line.startsWith("id: ")) {
        id = line.substring(4);
      } else if (line.startsWith("data: ")) {
        return new Event(id, line.substring(6));
      }
    }
    return null;
  }
}
