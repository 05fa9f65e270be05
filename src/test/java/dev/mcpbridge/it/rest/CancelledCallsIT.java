package dev.mcpbridge.it.rest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that are cancelled before they are sent to a server: they are not executed. */
@Tag("rest")
@Tag("slow")
@Tag("threads")
class CancelledCallsIT {
  private static final String STATELESS =
      "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n"
          + "mcp-method: tools/call\r\nmcp-name: effect\r\n";

  private static final String STATELESS_CALL =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"effect\","
          + "\"arguments\":{},\"_meta\":{"
          + "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
          + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "modern"})
  void aCallThatTimesOutBeforeItIsSentIsNotSent(String era) throws Exception {
    Path effects = folder.resolve("effects");
    Files.writeString(effects, "");
    String risk = "'risk':{'tools':{'effect':1}}";
    try (TestBridge behind =
            TestBridge.scripted("'maxInFlight':1000,'env':{'EFFECTS':'" + effects + "'}," + risk);
        TestBridge front =
            TestBridge.of(
                """
                {'mcpServers':{'s':{'url':'%s','era':'%s','maxInFlight':1000,'heartbeat':0,
                'timeout':20,'tools':{'effect':{'timeout':0.4}},%s}}}"""
                    .formatted(behind.uri("/servers/s/mcp"), era, risk))) {
      front.until(() -> front.call("echo", "{}").status() == 200);
      List<CompletableFuture<Answer>> calls = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        calls.add(front.callLater("sleep", "{\"ms\":5000}"));
      }
      front.until(() -> counter(behind, "pending_calls") > 250);
      front.until(() -> counter(front, "pending_calls") == 300);
      Answer late = front.call("effect", "{}");
      assertEquals(504, late.status());
      for (CompletableFuture<Answer> call : calls) {
        call.get(30, TimeUnit.SECONDS);
      }
      front.until(() -> front.call("echo", "{}").status() == 200);
      behind.until(() -> counter(behind, "pending_calls") == 0);

      assertEquals(0, Files.readAllLines(effects).size());
    }
  }

  private Path effects() throws IOException {
    return Files.writeString(folder.resolve("effects"), "");
  }

  private static String turn(String... functions) {
    return "{\"tool_calls\":[%s]}"
        .formatted(
            IntStream.range(0, functions.length)
                .mapToObj(
                    i ->
                        "{\"id\":\"c%d\",\"type\":\"function\",\"function\":".formatted(i)
                            + "{\"name\":\"%s\",\"arguments\":\"{}\"}}".formatted(functions[i]))
                .collect(Collectors.joining(",")));
  }

  /** Posts a request and disconnects as soon as the condition is true. */
  private static void post(
      TestBridge bridge, String path, String headers, String body, Callable<Boolean> condition)
      throws Exception {
    String head =
        "POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n%s"
            .formatted(path, headers);
    String request = head + "content-length: " + body.length() + "\r\n\r\n" + body;
    try (Socket client = new Socket("127.0.0.1", bridge.port())) {
      client.getOutputStream().write(request.getBytes(UTF_8));
      bridge.until(condition);
    }
  }

  private static int counter(TestBridge bridge, String name) throws Exception {
    return bridge.get("/servers/s").body().path(name).asInt();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/servers/s/mcp", "/toolcall", "/servers/s/tools/effect"})
  void aCallWhoseClientDisconnectsDuringStartIsNotExecuted(String path) throws Exception {
    Path effects = effects();
    String entry =
        TestBridge.entry(
            "'env':{'EFFECTS':'" + effects + "'},'risk':{'tools':{'effect':1}}",
            "--slow-init",
            "2500");
    try (TestBridge bridge = TestBridge.of("{'mcpServers':{'s':" + entry + "}}")) {
      String body =
          path.equals("/toolcall")
              ? turn("s__effect")
              : path.endsWith("mcp") ? STATELESS_CALL : "{}";
      post(
          bridge,
          path,
          path.endsWith("mcp") ? STATELESS : "",
          body,
          () -> bridge.get("/health/ready").status() == 503);

      bridge.until(() -> bridge.get("/health/ready").status() == 200);
      assertEquals(200, bridge.call("effect", "{}").status());
      assertEquals(1, Files.readAllLines(effects).size());
    }
  }

  @Test
  void aCallThatASessionCancelsDuringStartIsNotExecuted() throws Exception {
    Path effects = effects();
    String entry =
        TestBridge.entry("'env':{'EFFECTS':'" + effects + "'},'risk':{'tools':{'effect':1}}");
    String slow = TestBridge.entry("", "--slow-init", "8000");
    try (TestBridge bridge =
        TestBridge.of("{'mcpServers':{'s':" + entry + ",'slow':" + slow + "}}").awaitReady("s")) {
      McpClient session = new McpClient(bridge.uri("/mcp"), "{}").initialized();
      McpClient.PendingRequest pendingRequest =
          session.begin("tools/call", "\"name\":\"s__effect\"");

      bridge.until(
          () -> {
            pendingRequest.cancellation().cancel();
            return pendingRequest.response().isDone()
                || bridge.get("/health/ready").status() == 200;
          });

      assertEquals(200, bridge.call("effect", "{}").status());
      assertEquals(1, Files.readAllLines(effects).size());
    }
  }

  @Test
  void cancellingATurnStartsNoneOfItsQueuedCalls() throws Exception {
    Path effects = effects();
    try (TestBridge bridge =
        TestBridge.scripted(
            "'maxInFlight':1,'env':{'EFFECTS':'" + effects + "'},'risk':{'tools':{'effect':1}}")) {
      String turn = turn("s__effect", "s__effect", "s__effect").replace("{}", "{\\\"ms\\\":60000}");
      post(
          bridge,
          "/toolcall",
          "",
          turn,
          () -> counter(bridge, "queued_calls") == 2 && Files.readAllLines(effects).size() == 1);

      bridge.until(() -> counter(bridge, "pending_calls") == 0);
      assertEquals(200, bridge.call("echo", "{}").status());
      assertEquals(1, Files.readAllLines(effects).size());
    }
  }

  @Test
  void cancellingATurnStartsNoneOfItsQueuedApiCalls() throws Exception {
    ApiDocument document = ApiDocument.create().with("post", "/hangs", "hangs", "");
    document.with("get", "/echo", "echo", "");
    try (EchoApi api = EchoApi.start().on("/hangs", EchoApi.neverRespond());
        TestBridge bridge =
            TestBridge.of(
                    "{'mcpServers':{'s':{'type':'openapi','maxInFlight':1,'url':'"
                        + api.on("/openapi.json", document.asScript()).url("/openapi.json")
                        + "'}}}")
                .awaitReady("s")) {
      post(
          bridge,
          "/toolcall",
          "",
          turn("s__hangs", "s__hangs", "s__hangs"),
          () -> counter(bridge, "queued_calls") == 2 && api.requests("/hangs").size() == 1);

      bridge.until(() -> counter(bridge, "pending_calls") == 0);
      assertEquals(200, bridge.call("echo", "{}").status());
      assertEquals(1, api.requests("/hangs").size());
    }
  }

  @Test
  void aStreamClosedDuringStartLeavesNoSession() throws Exception {
    String slow = TestBridge.entry("", "--slow-init", "2500");
    String initialize =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
            + "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{}}}";
    try (TestBridge bridge =
        TestBridge.of("{'http':{'maxSessions':1},'mcpServers':{'s':" + slow + "}}")) {
      try (Socket client = new Socket("127.0.0.1", bridge.port())) {
        String listen =
            "GET /servers/s/sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n";
        client.getOutputStream().write(listen.getBytes(UTF_8));
        BufferedReader stream =
            new BufferedReader(new InputStreamReader(client.getInputStream(), UTF_8));
        String endpoint = stream.readLine();
        while (!endpoint.startsWith("data: ")) {
          endpoint = stream.readLine();
        }
        assertEquals(202, bridge.post(endpoint.substring(6).strip(), initialize).status());
      }

      bridge.until(() -> bridge.get("/health/ready").status() == 200);
      Answer next =
          bridge.post(
              "/servers/s/mcp", initialize, "accept", "application/json, text/event-stream");
      assertEquals(200, next.status(), next.text());
    }
  }
}
