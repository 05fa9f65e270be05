package dev.mcpbridge.it.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.GrpcServer;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.fixture.Toxic;
import dev.mcpbridge.fixture.ToxicProxy;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.testing.integration.ReconnectServiceGrpc;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The methods of a real gRPC server as tools. */
@Tag("grpc")
class GrpcIT {
  @TempDir static Path folder;
  @AutoClose private static GrpcServer server;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    server = GrpcServer.start();
    bridge =
        TestBridge.of(
                """
            {'mcpServers':{'s':{'type':'grpc','url':'%s','timeout':20,'maxMessages':5,
              'tools':{'TestService_HalfDuplexCall':{'timeout':2}},
              'headers':{'Authorization':'Bearer of-the-operator','x-tenant':'blue'}},
            'unary':{'type':'grpc','url':'%s','streaming':false,
              'services':['grpc.testing.*'],'excludeServices':['*/EmptyCall']}}}"""
                    .formatted(server.url(), server.url()))
            .awaitReady("s", "unary");
  }

  private static Answer call(String method, String arguments, String... headers) throws Exception {
    return bridge.call("TestService_" + method, arguments, headers);
  }

  private static JsonNode tool(String id, String name) throws Exception {
    for (JsonNode tool : bridge.get("/servers/" + id + "/tools").body().path("tools")) {
      if (tool.path("name").asText().equals(name)) {
        return tool;
      }
    }
    throw new AssertionError(name);
  }

  private static List<String> tools(String id) throws Exception {
    return bridge.get("/servers/" + id + "/tools").body().path("tools").findValuesAsText("name");
  }

  @Test
  void eachMethodIsAToolWithTypedSchemas() throws Exception {
    JsonNode tool = tool("s", "TestService_UnaryCall");

    JsonNode input = tool.path("inputSchema");
    assertEquals("integer", input.at("/properties/responseSize/type").asText(), input.toString());
    assertEquals(Integer.MAX_VALUE, input.at("/properties/responseSize/maximum").asLong());
    assertEquals("#/$defs/grpc.testing.Payload", input.at("/properties/payload/$ref").asText());
    assertFalse(input.path("additionalProperties").asBoolean(true));
    assertEquals(
        "base64",
        input
            .path("$defs")
            .path("grpc.testing.Payload")
            .at("/properties/body/contentEncoding")
            .asText());
    assertTrue(tool.path("outputSchema").path("properties").has("payload"), tool.toString());
    assertEquals(
        "array",
        tool("s", "TestService_FullDuplexCall")
            .at("/inputSchema/properties/messages/type")
            .asText());
  }

  @Test
  void onlySelectedMethodsAreOffered() throws Exception {
    List<String> names = tools("unary");

    assertTrue(names.contains("TestService_UnaryCall"), names.toString());
    assertFalse(names.contains("TestService_EmptyCall"), names.toString());
    assertFalse(names.contains("TestService_FullDuplexCall"), names.toString());
    assertTrue(names.stream().noneMatch(name -> name.startsWith("Health")), names.toString());
    String omitted = bridge.get("/servers/unary").body().path("omitted").toString();
    assertTrue(omitted.contains("FullDuplexCall"), omitted);
  }

  @Test
  void unaryCallReturnsItsResponseAsTextAndStructured() throws Exception {
    Answer answer = call("UnaryCall", "{\"responseSize\":3}");

    assertEquals(200, answer.status(), answer.toString());
    JsonNode payload = answer.body().at("/structuredContent/payload");
    assertEquals(3, Base64.getDecoder().decode(payload.path("body").asText()).length);
    assertTrue(answer.firstText().contains("\"payload\""), answer.firstText());
    assertEquals("{}", call("EmptyCall", "{}").firstText());
  }

  @Test
  void largeResponsesAreComplete() throws Exception {
    Answer answer = call("UnaryCall", "{\"responseSize\":2000000}");

    String body = answer.body().at("/structuredContent/payload/body").asText();
    assertEquals(2_000_000, Base64.getDecoder().decode(body).length);
  }

  @ParameterizedTest
  @CsvSource({
    "{\"nope\":1},nope",
    "{\"responseSize\":\"x\"},responseSize",
    "{\"responseSize\":3000000000},responseSize"
  })
  void argumentsOfTheWrongTypeAreNotSent(String arguments, String named) throws Exception {
    int before = server.requests().size();

    Answer answer = call("UnaryCall", arguments);

    assertEquals(422, answer.status(), answer.toString());
    assertTrue(answer.text().contains(named), answer.text());
    assertEquals(before, server.requests().size());
  }

  @ParameterizedTest
  @CsvSource({"3,INVALID_ARGUMENT", "5,NOT_FOUND", "9,FAILED_PRECONDITION", "16,UNAUTHENTICATED"})
  void statusThatAModelCanMendIsAnErrorOfTheTool(int code, String name) throws Exception {
    Answer answer =
        call(
            "UnaryCall", "{\"responseStatus\":{\"code\":" + code + ",\"message\":\"grün, 100%\"}}");

    assertEquals(200, answer.status(), answer.toString());
    assertTrue(answer.body().path("isError").asBoolean(), answer.text());
    assertEquals(name + ": grün, 100%", answer.firstText());
  }

  @ParameterizedTest
  @CsvSource({
    "1,502,upstream_error,unknown",
    "2,502,upstream_error,unknown",
    "4,504,deadline_exceeded,unknown",
    "8,429,rate_limited,unknown",
    "12,502,upstream_error,unknown",
    "13,502,upstream_error,unknown",
    "14,502,upstream_error,unknown",
    "15,502,upstream_error,unknown"
  })
  void otherStatusIsAFailure(int code, int status, String slug, String executed) throws Exception {
    Answer answer =
        call("UnaryCall", "{\"responseStatus\":{\"code\":" + code + ",\"message\":\"m\"}}");

    assertEquals(status, answer.status(), answer.toString());
    assertEquals(slug, answer.code());
    assertEquals(executed, answer.body().path("executed").asText());
  }

  @Test
  void methodThatIsNotImplementedIsReported() throws Exception {
    Answer answer = call("UnimplementedCall", "{}");

    assertEquals(502, answer.status(), answer.toString());
    assertTrue(answer.text().contains("UNIMPLEMENTED"), answer.text());
  }

  private static String outputs(int count, int intervalMicros) {
    return "{\"responseParameters\":["
        + String.join(
            ",",
            IntStream.rangeClosed(1, count)
                .mapToObj(size -> "{\"size\":" + size + ",\"intervalUs\":" + intervalMicros + "}")
                .toList())
        + "]}";
  }

  @Test
  void messagesOfAStreamAreAList() throws Exception {
    Answer answer = call("StreamingOutputCall", outputs(3, 0));

    JsonNode content = answer.body().path("structuredContent");
    assertEquals(3, content.path("messages").size(), answer.toString());
    assertFalse(content.path("truncated").asBoolean(true));
  }

  @Test
  void streamIsCancelledAtTheLimitAndTheResultSaysSo() throws Exception {
    int before = server.cancelled();

    Answer answer = call("StreamingOutputCall", outputs(20, 100_000));

    JsonNode content = answer.body().path("structuredContent");
    assertEquals(5, content.path("messages").size(), answer.toString());
    assertTrue(content.path("truncated").asBoolean());
    bridge.until(() -> server.cancelled() > before);
  }

  @Test
  void messagesOfAClientAreSentTogether() throws Exception {
    Answer sum =
        call(
            "StreamingInputCall",
            "{\"messages\":[{\"payload\":{\"body\":\"AAAA\"}},{\"payload\":{\"body\":\"AA==\"}}]}");
    Answer echoes =
        call(
            "FullDuplexCall",
            "{\"messages\":[" + outputs(2, 0) + ",{\"responseParameters\":[{\"size\":9}]}]}");

    assertEquals(4, sum.body().at("/structuredContent/aggregatedPayloadSize").asInt(), sum.text());
    assertEquals(3, echoes.body().at("/structuredContent/messages").size(), echoes.text());
  }

  @Test
  void progressIsToldWithEachMessage() throws Exception {
    Answer answer = call("StreamingOutputCall", outputs(3, 100), "accept", "text/event-stream");

    assertEquals(List.of("progress", "progress", "progress", "result"), answer.events());
    assertTrue(answer.text().contains("\"progress\":3"), answer.text());
  }

  @Test
  void serverIsToldTheDeadlineAndTheCallIsCancelledAtIt() throws Exception {
    int before = server.cancelled();

    Answer late = call("HalfDuplexCall", "{\"messages\":[" + outputs(2, 15_000_000) + "]}");

    assertEquals("deadline_exceeded", late.code(), late.toString());
    assertEquals("unknown", late.body().path("executed").asText());
    String told = last(server.header("grpc-timeout"));
    assertTrue(told.matches("1\\d{3}m|2000m"), told);
    bridge.until(() -> server.cancelled() > before);
  }

  @Test
  void callThatIsLeftIsCancelledAtTheServer() throws Exception {
    int before = server.cancelled();
    int calls = server.requests().size();
    CompletableFuture<Answer> call =
        bridge.callLater("TestService_StreamingOutputCall", outputs(2, 15_000_000));
    bridge.until(() -> server.requests().size() > calls);

    call.cancel(true);

    bridge.until(() -> server.cancelled() > before);
  }

  @Test
  void operatorsHeadersAreSentUnlessTheCallerHasItsOwnCredential() throws Exception {
    call("EmptyCall", "{}");
    assertEquals("Bearer of-the-operator", last(server.header("authorization")));
    assertEquals("blue", last(server.header("x-tenant")));

    call("EmptyCall", "{}", "x-upstream-authorization", "Bearer of-the-caller");

    assertEquals("Bearer of-the-caller", last(server.header("authorization")));
  }

  private static String last(List<String> values) {
    return values.get(values.size() - 1);
  }

  @Test
  void toolsAreCalledOverMcp() throws Exception {
    McpClient client = new McpClient(bridge.uri("/servers/s/mcp"), "{}").initialized();

    McpClient.Reply reply =
        client.request(
            "tools/call",
            "{\"name\":\"TestService_UnaryCall\",\"arguments\":{\"responseSize\":1}}");

    assertTrue(reply.result().path("structuredContent").has("payload"), reply.toString());
  }

  @Test
  @SuppressWarnings("deprecation")
  void serverWithTheOlderReflectionIsRead() throws Exception {
    try (GrpcServer older =
            GrpcServer.with(builder -> builder.addService(ProtoReflectionService.newInstance()));
        TestBridge own =
            TestBridge.serving("{'type':'grpc','url':'" + older.url() + "'}").awaitReady("s")) {
      assertEquals(200, own.call("TestService_EmptyCall", "{}").status());
    }
  }

  @Test
  void serverWithoutReflectionFailsWithAHint() throws Exception {
    try (GrpcServer mute = GrpcServer.with(builder -> {});
        TestBridge own = failing(mute)) {
      own.until(() -> lastError(own).contains("descriptorSet"));
    }
  }

  /** A bridge that does not wait until its server is ready. */
  private static TestBridge failing(GrpcServer of) {
    return TestBridge.of("{'mcpServers':{'s':{'type':'grpc','url':'%s'}}}".formatted(of.url()));
  }

  private static String lastError(TestBridge own) throws Exception {
    return own.get("/servers/s").body().path("last_error").asText();
  }

  @Test
  void serverIsUsedAgainAfterItWasGone() throws Exception {
    GrpcServer first = GrpcServer.start();
    int port = first.port();
    try (TestBridge own =
        TestBridge.serving("{'type':'grpc','url':'" + first.url() + "','timeout':5}")
            .awaitReady("s")) {
      first.close();
      own.until(() -> own.call("TestService_EmptyCall", "{}").at("/executed").equals("no"));

      try (GrpcServer second = GrpcServer.at(port)) {
        own.until(() -> own.call("TestService_EmptyCall", "{}").status() == 200);
        assertTrue(second.requests().size() > 0);
      }
    }
  }

  @Test
  void serverThatDoesNotServeIsNotReady() throws Exception {
    try (GrpcServer sick = GrpcServer.start()) {
      sick.setServing(false);
      try (TestBridge own = failing(sick)) {
        own.until(() -> lastError(own).contains("does not serve"));
        assertFalse(own.state("s").equals("ready"));

        sick.setServing(true);
        own.awaitReady("s");
      }
    }
  }

  @Test
  void descriptorSetReplacesReflectionAndHasTheComments() throws Exception {
    Path descriptors = folder.resolve("set.pb");
    GrpcServer.describe(descriptors, " Returns as many bytes as it is asked for.\n");
    try (GrpcServer mute = GrpcServer.with(builder -> {});
        TestBridge own =
            TestBridge.serving(
                    "{'type':'grpc','url':'%s','descriptorSet':'%s'}"
                        .formatted(mute.url(), descriptors))
                .awaitReady("s")) {
      String tools = own.get("/servers/s/tools").text();

      assertTrue(tools.contains("\"Returns as many bytes as it is asked for.\""), tools);
      assertEquals(200, own.call("TestService_UnaryCall", "{\"responseSize\":1}").status());
    }
  }

  /** Answers all calls but those of reflection with a status. */
  private static ServerInterceptor guard(Status status) {
    return new ServerInterceptor() {
      @Override
      public <Q, R> ServerCall.Listener<Q> interceptCall(
          ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        if (call.getMethodDescriptor().getServiceName().contains("reflection")) {
          return next.startCall(call, headers);
        }
        call.close(status, new Metadata());
        return new ServerCall.Listener<>() {};
      }
    };
  }

  @Test
  void serverThatGuardsItsHealthIsReachable() throws Exception {
    try (GrpcServer guarded =
            GrpcServer.with(
                builder ->
                    builder
                        .addService(GrpcServer.reflection())
                        .intercept(guard(Status.UNAUTHENTICATED)));
        TestBridge own = failing(guarded).awaitReady("s")) {
      Answer answer = own.call("TestService_EmptyCall", "{}");

      assertEquals("UNAUTHENTICATED: ", answer.firstText(), answer.toString());
    }
  }

  @Test
  void callOfAServerThatDiesMeanwhileMayHaveBeenExecuted() throws Exception {
    GrpcServer mortal = GrpcServer.start();
    try (TestBridge own =
        TestBridge.serving("{'type':'grpc','url':'" + mortal.url() + "'}").awaitReady("s")) {
      int before = mortal.requests().size();
      CompletableFuture<Answer> call =
          own.callLater("TestService_StreamingOutputCall", outputs(2, 15_000_000));
      own.until(() -> mortal.requests().size() > before);

      mortal.close();

      Answer answer = call.get(20, TimeUnit.SECONDS);
      assertEquals(502, answer.status(), answer.toString());
      assertEquals("unknown", answer.at("/executed"));
    }
  }

  @Test
  void newMethodsOfAServerAreOfferedAfterARefresh() throws Exception {
    GrpcServer first = GrpcServer.start();
    int port = first.port();
    try (TestBridge own =
        TestBridge.serving("{'type':'grpc','url':'" + first.url() + "','refresh':1}")
            .awaitReady("s")) {
      first.close();
      try (GrpcServer second =
          GrpcServer.at(port, new ReconnectServiceGrpc.ReconnectServiceImplBase() {})) {
        own.until(() -> own.get("/servers/s/tools").text().contains("ReconnectService_Start"));
        assertEquals(200, own.call("TestService_EmptyCall", "{}").status());
        assertTrue(second.requests().size() > 0);
      }
    }
  }

  @Test
  void callsBeyondTheStreamsOfAConnectionUseAnother() throws Exception {
    try (GrpcServer narrow =
            GrpcServer.with(
                builder ->
                    builder
                        .addService(GrpcServer.reflection())
                        .maxConcurrentCallsPerConnection(2));
        TestBridge own =
            TestBridge.serving("{'type':'grpc','url':'" + narrow.url() + "'}").awaitReady("s")) {
      List<CompletableFuture<Answer>> calls =
          IntStream.range(0, 12)
              .mapToObj(i -> own.callLater("TestService_StreamingOutputCall", outputs(1, 300_000)))
              .toList();

      for (CompletableFuture<Answer> call : calls) {
        assertEquals(200, call.get(20, TimeUnit.SECONDS).status());
      }
      assertTrue(narrow.connections() > 1, narrow.connections() + " connections");
    }
  }

  @Test
  void silentConnectionIsReplaced() throws Exception {
    AtomicBoolean isSilent = new AtomicBoolean();
    try (GrpcServer far = GrpcServer.start();
        ToxicProxy proxy = new ToxicProxy(far.port())) {
      proxy.answers("", Toxic.silence(isSilent));
      try (TestBridge own =
          TestBridge.serving(
                  "{'type':'grpc','url':'grpc://127.0.0.1:%d','heartbeat':1,'timeout':1}"
                      .formatted(proxy.port()))
              .awaitReady("s")) {
        isSilent.set(true);
        assertEquals("deadline_exceeded", own.call("TestService_EmptyCall", "{}").code());

        isSilent.set(false);

        own.until(() -> own.call("TestService_EmptyCall", "{}").status() == 200);
      }
    }
  }
}
