package dev.mcpbridge.it.mcp;

import static dev.mcpbridge.fixture.SdkClient.firstText;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.SdkClient;
import dev.mcpbridge.fixture.SdkServer;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.GetPromptRequest;
import io.modelcontextprotocol.spec.McpSchema.LoggingLevel;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.SubscribeRequest;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import io.modelcontextprotocol.spec.McpSchema.UnsubscribeRequest;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.math.BigInteger;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Java SDK on both sides: its client at every endpoint, its server behind the bridge. */
@Tag("mcp")
class JavaSdkIT {
  @AutoClose
  private static final TestBridge bridge =
      TestBridge.of(
              "{'mcpServers':{'s':%s,'sdk':%s}}"
                  .formatted(TestBridge.entry("'risk':{'tools':{'big':2}}"), sdkServer()))
          .awaitReady("s", "sdk");

  @ParameterizedTest
  @ValueSource(strings = {"/servers/{server}/mcp", "/mcp", "/servers/{server}/sse"})
  @Retention(RetentionPolicy.RUNTIME)
  private @interface AtEveryEndpoint {}

  private static String sdkServer() {
    return "{'command':'%s','args':['-XX:+UseSerialGC','-XX:TieredStopAtLevel=1','-cp',%s,'%s']}"
        .formatted(
            TestBridge.java(),
            Json.mapper().getNodeFactory().textNode(System.getProperty("java.class.path")),
            SdkServer.class.getName());
  }

  private static Answer rest(String tool, String arguments) throws Exception {
    return bridge.post("/servers/sdk/tools/" + tool, arguments);
  }

  @AtEveryEndpoint
  void theSdkClientListsAndCallsTools(String endpoint) {
    try (SdkClient client = new SdkClient(bridge, endpoint, "s")) {
      List<String> tools = client.tools();
      Map<String, Object> sent =
          Map.of(
              "whole",
              new BigInteger("12345678901234567890"),
              "decimal",
              -0.125,
              "grüße",
              List.of("🎉", "\u0001\u2028\"\\", true));

      assertTrue(tools.contains(client.name("echo")), tools.toString());
      assertTrue(tools.contains(client.name("babble")), tools.toString());
      assertEquals(sent, client.call("echo", sent).structuredContent());
      assertTrue(client.call("tool_error", Map.of()).isError());
      McpError unknown = assertThrows(McpError.class, () -> client.call("nothing", Map.of()));
      assertEquals(-32602, unknown.getJsonRpcError().code());
      McpError broken = assertThrows(McpError.class, () -> client.call("fail", Map.of()));
      assertEquals("it broke", broken.getJsonRpcError().message());
      client.sdk().ping();
    }
  }

  @AtEveryEndpoint
  void theSdkClientReceivesProgressAndLogMessages(String endpoint) throws Exception {
    try (SdkClient client = new SdkClient(bridge, endpoint, "s")) {
      assertEquals(
          "finished", firstText(client.callWithProgress("progress", Map.of("steps", 3), "mine")));
      bridge.until(() -> client.progress().size() == 3);
      ProgressNotification last = client.progress().get(2);
      assertEquals("mine", last.progressToken());
      assertEquals(3.0, last.total());

      client.call("log", Map.of());
      bridge.until(() -> client.logged().equals(List.of("hello")));
      client.sdk().setLoggingLevel(LoggingLevel.ERROR);
      assertEquals("logged", firstText(client.call("log", Map.of())));
      assertEquals("x", firstText(client.call("big", Map.of("size", 1))));
      assertEquals(1, client.logged().size());
    }
  }

  @AtEveryEndpoint
  void theSdkClientConfirmsACallInAForm(String endpoint) {
    try (SdkClient client = new SdkClient(bridge, endpoint, "s")) {
      assertEquals("x".repeat(100_000), firstText(client.call("big", Map.of("size", 100_000))));

      assertEquals(1, client.elicitations().size());
      assertTrue(
          client.elicitations().get(0).contains("{\"size\":100000}"),
          client.elicitations().toString());
    }
  }

  @AtEveryEndpoint
  void theSdkClientAnswersASamplingRequest(String endpoint) {
    try (SdkClient client = new SdkClient(bridge, endpoint, "s")) {
      String question =
          "{'messages':[{'role':'user','content':{'type':'text','text':'why?'}}],'maxTokens':9}";
      String said =
          firstText(
              client.call(
                  "ask", Map.of("method", "sampling/createMessage", "params", json(question))));

      assertTrue(said.startsWith("result {"), said);
      assertTrue(said.contains("re: why?"), said);
    }
  }

  @AtEveryEndpoint
  void theSdkClientReadsResourcesAndPrompts(String endpoint) {
    try (SdkClient client = new SdkClient(bridge, endpoint, "s")) {
      assertTrue(
          client.sdk().listResources().resources().stream()
              .anyMatch(resource -> resource.uri().equals("test://a b%25")));
      assertEquals("content of test://a b%25", text(client, "test://a b%25"));
      assertTrue(
          client.sdk().listPrompts().prompts().stream()
              .anyMatch(prompt -> prompt.name().equals(client.name("greet"))));
      assertEquals("hello", prompt(client, Map.of()));
    }
  }

  @AtEveryEndpoint
  void theSdkServerWorksWithTheSdkClient(String endpoint) {
    try (SdkClient client = new SdkClient(bridge, endpoint, "sdk")) {
      assertEquals(
          Map.of("n", 1, "grüße", "🎉"),
          client.call("echo", Map.of("n", 1, "grüße", "🎉")).structuredContent());
      assertTrue(client.call("fail", Map.of()).isError());
      assertEquals(
          "ACCEPT {count=3, confirm=true}", sorted(firstText(client.call("elicit", Map.of()))));
      assertEquals(List.of("How many?"), client.elicitations());
      assertEquals("a-model re: what?", firstText(client.call("sample", Map.of())));
      assertEquals("grüße", text(client, SdkServer.NOTE));
      assertEquals("hello you", prompt(client, Map.of("whom", "you")));
    }
  }

  @AtEveryEndpoint
  void theSdkClientReceivesNotificationsOfTheSdkServer(String endpoint) throws Exception {
    try (SdkClient client = new SdkClient(bridge, endpoint, "sdk")) {
      assertEquals("finished", firstText(client.callWithProgress("progress", Map.of(), 7)));
      client.call("log", Map.of());

      bridge.until(() -> client.progress().size() == 3);
      assertEquals(7, client.progress().get(0).progressToken());
      bridge.until(() -> client.logged().equals(List.of("careful")));
    }
  }

  @AtEveryEndpoint
  void aSubscriptionLastsUntilItIsCancelled(String endpoint) throws Exception {
    try (SdkClient client = new SdkClient(bridge, endpoint, "sdk");
        SdkClient other = new SdkClient(bridge, endpoint, "sdk")) {
      client.sdk().subscribeResource(SubscribeRequest.builder(SdkServer.NOTE).build());
      other.sdk().subscribeResource(SubscribeRequest.builder(SdkServer.NOTE).build());
      int touched =
          touchUntil(
              client,
              () -> !client.updatedResources().isEmpty() && !other.updatedResources().isEmpty());
      assertEquals("grüße", client.updatedResources().get(0));

      client.sdk().unsubscribeResource(UnsubscribeRequest.builder(SdkServer.NOTE).build());
      for (int i = 0; i < 2 * touched; i++) {
        client.call("touch", Map.of());
      }

      bridge.until(() -> other.updatedResources().size() > 2 * touched);
      assertTrue(client.updatedResources().size() <= touched, client.updatedResources().toString());
    }
  }

  /**
   * Touches the note about once a second until the condition is true: an update before the
   * subscription is effective is not sent.
   *
   * @return the number of touches
   */
  private static int touchUntil(SdkClient client, Callable<Boolean> condition) throws Exception {
    AtomicInteger polls = new AtomicInteger();
    AtomicInteger touched = new AtomicInteger();
    bridge.until(
        () -> {
          if (polls.getAndIncrement() % 50 == 0) {
            client.call("touch", Map.of());
            touched.incrementAndGet();
          }
          return condition.call();
        });
    return touched.get();
  }

  @Test
  void theSdkServerIsUsableOverRest() throws Exception {
    assertEquals("java-sdk", bridge.get("/servers/sdk").at("/server_info/name"));
    assertEquals("2025-11-25", bridge.get("/servers/sdk").at("/protocol_version"));
    assertTrue(rest("echo", "{\"ü\":[1,2]}").text().contains("{\"ü\":[1,2]}"));
    assertTrue(rest("fail", "{}").body().path("isError").asBoolean());
    assertTrue(rest("crash", "{}").text().contains("it crashed"));
    assertFalse(rest("elicit", "{}").text().contains("ACCEPT"));
    String uri = URLEncoder.encode(SdkServer.NOTE, StandardCharsets.UTF_8);
    assertEquals("grüße", bridge.get("/servers/sdk/resources/" + uri).at("/contents/0/text"));
    assertEquals(
        "hello you",
        bridge
            .post("/servers/sdk/prompts/greet", "{\"whom\":\"you\"}")
            .at("/messages/0/content/text"));
  }

  @Test
  void aToolAddedByTheSdkServerIsAnnouncedToTheClient() throws Exception {
    String config = "{'mcpServers':{'sdk':" + sdkServer() + "}}";
    try (TestBridge own = TestBridge.of(config).awaitReady("sdk")) {
      try (SdkClient client = new SdkClient(own, "/mcp", "sdk")) {
        assertFalse(client.tools().contains("sdk__grown"));

        client.call("grow", Map.of());

        own.until(() -> client.listedTools().contains("sdk__grown"));
        assertEquals("grown", firstText(client.call("grown", Map.of())));
      }
    }
  }

  private static Object json(String singleQuoted) {
    try {
      return Json.mapper().readValue(TestBridge.json(singleQuoted), Map.class);
    } catch (java.io.IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String sorted(String answer) {
    return answer.replace("{confirm=true, count=3}", "{count=3, confirm=true}");
  }

  private static String text(SdkClient client, String uri) {
    return ((TextResourceContents)
            client.sdk().readResource(ReadResourceRequest.builder(uri).build()).contents().get(0))
        .text();
  }

  private static String prompt(SdkClient client, Map<String, Object> arguments) {
    return ((TextContent)
            client
                .sdk()
                .getPrompt(
                    GetPromptRequest.builder(client.name("greet")).arguments(arguments).build())
                .messages()
                .get(0)
                .content())
        .text();
  }
}
