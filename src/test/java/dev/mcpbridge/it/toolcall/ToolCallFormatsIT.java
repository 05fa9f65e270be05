package dev.mcpbridge.it.toolcall;

import static dev.mcpbridge.fixture.ModelFormat.call;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ModelFormat;
import dev.mcpbridge.fixture.ModelFormat.ToolAnswer;
import dev.mcpbridge.fixture.NodeFixture;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Functions and calls in the formats of model APIs. */
@Tag("toolcall")
class ToolCallFormatsIT {
  private static final String IMAGE =
      "{\"type\":\"image\",\"data\":\"aGk=\",\"mimeType\":\"image/png\"}";
  private static final String SOUND =
      "{\"type\":\"audio\",\"data\":\"aG8=\",\"mimeType\":\"audio/wav\"}";

  @AutoClose private static final TestBridge bridge = TestBridge.scripted("");

  @AfterEach
  void alive() throws Exception {
    bridge.assertAlive();
  }

  @ParameterizedTest
  @EnumSource
  void everyToolBecomesAValidFunction(ModelFormat format) throws Exception {
    JsonNode listed = bridge.get("/toolcall/tools?format=" + format.value()).body();

    assertEquals(format.value(), listed.path("format").asText());
    List<JsonNode> functions = format.functions(listed.path("tools"));
    int tools = bridge.get("/servers/s/tools").body().path("tools").size();
    assertEquals(tools, functions.size());
    Set<String> names = new HashSet<>();
    for (JsonNode function : functions) {
      String name = function.path("name").asText();
      assertTrue(name.matches("s__[A-Za-z0-9_-]{1,61}"), name);
      assertTrue(names.add(name), name);
      assertEquals("Plays " + name.substring(3) + ".", function.path("description").asText());
      assertTrue(
          format == ModelFormat.GEMINI || function.path(format.schemaMember()).isObject(), name);
    }
    JsonNode sleep = named(functions, "s__sleep").path(format.schemaMember());
    assertEquals("[\"ms\"]", sleep.path("required").toString());
    assertEquals("integer", sleep.at("/properties/ms/type").asText().toLowerCase());
    assertTrue(listed.path("reductions").isArray());
  }

  @ParameterizedTest
  @EnumSource
  void strictFunctionsAreClosedWhereSupported(ModelFormat format) throws Exception {
    JsonNode listed = bridge.get("/toolcall/tools?strict=true&format=" + format.value()).body();

    JsonNode sleep = named(format.functions(listed.path("tools")), "s__sleep");
    assertEquals(format.isOpenAi(), sleep.path("strict").asBoolean(), sleep.toString());
    JsonNode closed = sleep.path(format.schemaMember()).path("additionalProperties");
    assertEquals(format.isOpenAi(), closed.isBoolean() && !closed.booleanValue(), sleep.toString());
    JsonNode open = bridge.get("/toolcall/tools?format=" + format.value()).body();
    assertFalse(named(format.functions(open.path("tools")), "s__sleep").path("strict").asBoolean());
  }

  @ParameterizedTest
  @EnumSource
  void reductionsAreReported(ModelFormat format) throws Exception {
    JsonNode listed =
        bridge
            .get("/toolcall/tools?tools=s__sleep,fail&strict=true&format=" + format.value())
            .body();

    assertEquals(2, format.functions(listed.path("tools")).size());
    String shown = listed.path("tools").toString();
    String reductions = listed.path("reductions").toString();
    assertTrue(shown.contains("(a+)+$") || reductions.contains("/properties/s"), listed.toString());
    assertTrue(
        shown.contains("\"minimum\":0") || reductions.contains("/properties/ms"), reductions);
  }

  @ParameterizedTest
  @EnumSource
  void parallelCallsKeepTheirOrderAndIds(ModelFormat format) throws Exception {
    Answer answer =
        run(
            format.turn(
                call("c-1", "s__sleep", "{\"ms\":150}"),
                call("c-2", "s__echo", "{\"n\":1.10}"),
                call("c-3", "s__tool_error", "{}"),
                call("c-4", "s__nothing", "{}"),
                call("c-5", "s__big", "{\"size\":3}")));

    assertEquals(format.value(), answer.at("/format"));
    JsonNode responses = answer.body().path("tool_responses");
    assertEquals(List.of("c-1", "c-2", "c-3", "c-4", "c-5"), texts(responses, "tool_call_id"));
    assertEquals(
        List.of("s__sleep", "s__echo", "s__tool_error", "s__nothing", "s__big"),
        texts(responses, "name"));
    assertEquals(List.of("200", "200", "200", "404", "200"), texts(responses, "status"));
    assertEquals(
        List.of("completed", "completed", "tool_error", "failed", "completed"),
        texts(responses, "outcome"));
    List<ToolAnswer> toolAnswers = format.toolAnswers(answer.body().path("messages"));
    assertEquals(
        List.of("c-1", "c-2", "c-3", "c-4", "c-5"),
        toolAnswers.stream().map(ToolAnswer::id).toList());
    assertEquals("slept", toolAnswers.get(0).text());
    assertEquals(
        format == ModelFormat.ANTHROPIC || format == ModelFormat.GEMINI,
        toolAnswers.get(2).isError(),
        answer.text());
    assertEquals("no", toolAnswers.get(2).text());
    assertTrue(toolAnswers.get(3).text().startsWith("tool_not_found: "), toolAnswers.get(3).text());
    assertEquals("xxx", toolAnswers.get(4).text());
  }

  @ParameterizedTest
  @EnumSource
  void completeResponseAndBareListAreAccepted(ModelFormat format) throws Exception {
    ModelFormat.Call echo = call("c-1", "s__echo", "{\"a\":1}");
    String expected = run(format.turn(echo)).text();

    assertTrue(expected.contains("\"structured_content\":{\"a\":1}"), expected);
    assertEquals(expected, run(format.apiResponse(echo)).text());
    assertEquals(expected, run(format.list(echo)).text());
    assertEquals(
        expected, bridge.post("/toolcall?format=" + format.value(), format.turn(echo)).text());
  }

  @ParameterizedTest
  @EnumSource
  void explicitFormatIsNotGuessed(ModelFormat format) throws Exception {
    for (ModelFormat other : ModelFormat.values()) {
      Answer answer =
          bridge.post(
              "/toolcall?format=" + other.value(), format.turn(call("c-1", "s__echo", "{}")));

      assertEquals(other == format ? 200 : 422, answer.status(), other + " " + answer);
    }
  }

  @ParameterizedTest
  @EnumSource
  void turnWithoutCallsYieldsNoMessages(ModelFormat format) throws Exception {
    for (String turn : List.of(format.turn(), format.apiResponse())) {
      Answer answer = run(turn);

      assertEquals(
          "{\"format\":\"" + format.value() + "\",\"tool_responses\":[],\"messages\":[]}",
          answer.text());
    }
    assertEquals(
        "{\"format\":\"" + format.value() + "\",\"tool_responses\":[],\"messages\":[]}",
        bridge.post("/toolcall?format=" + format.value(), "[]").text());
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "GEMINI")
  void callWithoutAnIdGetsOne(ModelFormat format) throws Exception {
    JsonNode body =
        run(format.turn(call(null, "s__echo", "{}"), call(null, "s__sleep", "{\"ms\":1}"))).body();

    List<String> ids = texts(body.path("tool_responses"), "tool_call_id");
    assertEquals(2, Set.copyOf(ids).size(), ids.toString());
    assertEquals(
        ids, format.toolAnswers(body.path("messages")).stream().map(ToolAnswer::id).toList());
    assertEquals("slept", format.toolAnswers(body.path("messages")).get(1).text());
  }

  @ParameterizedTest
  @EnumSource
  void imageIsSentInTheFormatOfTheProvider(ModelFormat format) throws Exception {
    Answer answer = run(format.turn(content("c-1", IMAGE), call("c-2", "s__echo", "{\"a\":1}")));

    JsonNode messages = answer.body().path("messages");
    String pointer =
        switch (format) {
          case OPENAI_CHAT -> "/2/content/1/image_url/url";
          case OPENAI_RESPONSES -> "/0/output/0/image_url";
          case ANTHROPIC -> "/0/content/0/content/0/source/data";
          case GEMINI -> "/0/parts/0/functionResponse/parts/0/inlineData/data";
        };
    String url = format.isOpenAi() ? "data:image/png;base64,aGk=" : "aGk=";
    assertEquals(url, messages.at(pointer).asText(), answer.text());
    assertTrue(answer.text().contains("\"content\":[" + IMAGE + "]"), answer.text());
    assertEquals(2, format.toolAnswers(messages).size());
    if (format == ModelFormat.OPENAI_CHAT) {
      assertEquals(List.of("tool", "tool", "user"), texts(messages, "role"));
      assertTrue(messages.at("/2/content/0/text").asText().contains("c-1"), answer.text());
    }
  }

  @ParameterizedTest
  @EnumSource
  void audioIsSentOrDescribed(ModelFormat format) throws Exception {
    Answer answer = run(format.turn(content("c-1", SOUND)));

    JsonNode messages = answer.body().path("messages");
    switch (format) {
      case OPENAI_CHAT ->
          assertEquals(
              "{\"data\":\"aG8=\",\"format\":\"wav\"}",
              messages.at("/1/content/1/input_audio").toString());
      case GEMINI ->
          assertEquals(
              "{\"mimeType\":\"audio/wav\",\"data\":\"aG8=\"}",
              messages.at("/0/parts/0/functionResponse/parts/0/inlineData").toString());
      default ->
          assertTrue(
              format.toolAnswers(messages).get(0).text().contains("audio/wav"), answer.text());
    }
    assertTrue(answer.text().contains("\"content\":[" + SOUND + "]"), answer.text());
  }

  @ParameterizedTest
  @EnumSource
  void resourceIsSentWithItsUri(ModelFormat format) throws Exception {
    String resource =
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://a\",\"text\":\"read me\"}}";
    String link = "{\"type\":\"resource_link\",\"uri\":\"test://b\",\"name\":\"b\"}";

    Answer answer = run(format.turn(content("c-1", resource + "," + link)));

    String text = format.toolAnswers(answer.body().path("messages")).get(0).text();
    assertTrue(text.startsWith("test://a:\nread me"), text);
    assertTrue(text.contains("test://b"), text);
    assertTrue(answer.text().contains("\"content\":[" + resource + "," + link + "]"));
  }

  @ParameterizedTest
  @EnumSource
  void structuredContentIsSentOnceAndUnchanged(ModelFormat format) throws Exception {
    String exact = "{\"big\":9007199254740993,\"d\":1.10}";
    Answer alone =
        run(
            format.turn(
                call(
                    "c-1", "s__bad_result", "{\"result\":{\"structuredContent\":" + exact + "}}")));
    Answer repeated =
        run(
            format.turn(
                call(
                    "c-1",
                    "s__bad_result",
                    "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1}\"}],"
                        + "\"structuredContent\":{\"n\":1}}}")));

    assertTrue(alone.text().contains("\"structured_content\":" + exact), alone.text());
    assertEquals(exact, format.toolAnswers(alone.body().path("messages")).get(0).text());
    assertEquals("{\"n\":1}", format.toolAnswers(repeated.body().path("messages")).get(0).text());
    assertEquals(
        "{\"n\":1}", repeated.body().at("/tool_responses/0/structured_content").toString());
  }

  @ParameterizedTest
  @EnumSource
  void invalidResultsAreStillAnswered(ModelFormat format) throws Exception {
    List<String> results =
        List.of(
            "{}",
            "{\"content\":[]}",
            "{\"content\":\"text\"}",
            "{\"content\":null,\"structuredContent\":null}",
            "{\"content\":[1,null,[],{}]}",
            "{\"content\":[{\"type\":\"image\"},{\"type\":\"image\",\"data\":1,\"mimeType\":2}]}",
            "{\"content\":[{\"type\":\"image\",\"data\":\"no base64\",\"mimeType\":\"\"}]}",
            "{\"content\":[{\"type\":\"resource\",\"resource\":[]},{\"type\":\"resource\"}]}",
            "{\"content\":[{\"type\":\"text\",\"text\":\"\\u0000 \\u2028\"}]}",
            "{\"content\":[],\"isError\":\"yes\",\"structuredContent\":[1,2]}");
    for (String result : results) {
      JsonNode body =
          run(format.turn(call("c-1", "s__bad_result", "{\"result\":" + result + "}"))).body();

      assertEquals(1, body.path("tool_responses").size(), body.toString());
      List<ToolAnswer> toolAnswers = format.toolAnswers(body.path("messages"));
      assertEquals(1, toolAnswers.size(), body.toString());
      assertEquals("c-1", toolAnswers.get(0).id());
    }
  }

  @ParameterizedTest
  @EnumSource
  void mediaOfARealServerAreDelivered(ModelFormat format) throws Exception {
    try (TestBridge own = TestBridge.of("{'mcpServers':{'node':" + NodeFixture.stdio("") + "}}")) {
      JsonNode body =
          own.post(
                  "/toolcall",
                  format.turn(
                      call("c-1", "node__test_multiple_content_types", "{}"),
                      call("c-2", "node__test_audio_content", "{}"),
                      call("c-3", "node__test_error_handling", "{}")))
              .body();

      List<ToolAnswer> toolAnswers = format.toolAnswers(body.path("messages"));
      assertEquals(List.of("c-1", "c-2", "c-3"), toolAnswers.stream().map(ToolAnswer::id).toList());
      assertTrue(
          toolAnswers.get(0).text().startsWith("Multiple content types test:"), body.toString());
      assertTrue(toolAnswers.get(0).text().contains("\"value\":123"), body.toString());
      assertTrue(body.path("messages").toString().contains("iVBORw0KGgo"), body.toString());
      assertEquals(
          List.of("completed", "completed", "tool_error"),
          texts(body.path("tool_responses"), "outcome"));
    }
  }

  private static ModelFormat.Call content(String id, String blocks) {
    return call(id, "s__bad_result", "{\"result\":{\"content\":[" + blocks + "]}}");
  }

  private static Answer run(String turn) throws Exception {
    Answer answer = bridge.post("/toolcall", turn);
    assertEquals(200, answer.status(), answer.text());
    return answer;
  }

  private static JsonNode named(List<JsonNode> functions, String name) {
    JsonNode found =
        functions.stream()
            .filter(function -> function.path("name").asText().equals(name))
            .findFirst()
            .orElse(null);
    assertNotNull(found, name);
    return found;
  }

  private static List<String> texts(JsonNode nodes, String member) {
    return StreamSupport.stream(nodes.spliterator(), false)
        .map(node -> node.path(member).asText())
        .toList();
  }
}
