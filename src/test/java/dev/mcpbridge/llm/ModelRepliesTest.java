package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** How each model reads the responses of its provider. */
@ParameterizedClass
@EnumSource(Recorded.class)
@Timeout(60)
class ModelRepliesTest extends ModelScenarios {
  private static final List<String> WORDS = List.of("Grü", "ße ", "🎉 \"\\n\"\n", "an alle");
  private static final String ALL = String.join("", WORDS);
  static final String ARGUMENTS =
      "{\"n\":1.10,\"big\":12345678901234567890,\"t\":\"ü\\\"\\\\\\n🎉\",\"a\":[]}";

  @Test
  void streamedTextArrivesInOrderAndFormsTheReply() throws Exception {
    // Given
    provider.then(recorded.answers.text(WORDS));

    // When
    ModelReply modelReply = provider.ask("hello");

    // Then
    assertEquals(ALL, modelReply.text());
    assertEquals(recorded.answers.isStream() ? WORDS : List.of(ALL), provider.receivedText);
    assertEquals(new ModelReply.Usage(11, 7), modelReply.usage());
    assertEquals(ModelReply.End.DONE, modelReply.end());
    assertEquals(List.of(), modelReply.calls());
  }

  @Test
  void replyIsTheSameWhereverItsBytesAreSplit() throws Exception {
    String body = String.join("", recorded.answers.text(WORDS));
    byte[] bytes = withCrLf(body).getBytes(StandardCharsets.UTF_8);
    for (int at = 1; at < bytes.length; at++) {
      // Given
      provider.receivedText.clear();
      byte[] first = Arrays.copyOf(bytes, at);
      byte[] second = Arrays.copyOfRange(bytes, at, bytes.length);
      provider.always(provider.inChunks(first, second)); // to a retry as well

      // When
      ModelReply modelReply = provider.once(provider);

      // Then
      assertEquals(ALL, modelReply.text(), "cut at " + at);
      assertEquals(ALL, String.join("", provider.receivedText), "cut at " + at);
    }
  }

  private static String withCrLf(String events) {
    return events.replace("\r\n", "\n").replace("\n", "\r\n");
  }

  /** Normalizes escapes; keeps every digit. */
  static String exact(JsonSlice json) {
    try {
      return Json.exactTree(json).toString();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void argumentsInLaterRequestsKeepEveryDigit() throws Exception {
    // Given
    provider
        .then(recorded.answers.calls("", List.of(new Recorded.Call("id_1", "one", ARGUMENTS))))
        .then(recorded.answers.text(WORDS));

    // When
    ModelReply modelReply = provider.ask("do");
    provider.ask("and then?");

    // Then
    String again = provider.requests().get(1).text();
    assertEquals(ARGUMENTS, exact(modelReply.calls().get(0).arguments()));
    assertTrue(again.contains("1.10,") && again.contains("12345678901234567890"), again);
  }

  @Test
  void refusalIsReported() throws Exception {
    provider.then(recorded.answers.refused()).then(recorded.answers.text(WORDS));

    ModelReply modelReply = provider.ask("something bad");

    assertEquals(ModelReply.End.REFUSED, modelReply.end());
    assertEquals(List.of(), modelReply.calls());
    assertEquals(1, provider.requests().size());
    // And the conversation continues.
    assertEquals(ALL, provider.ask("something good").text());
  }

  @Test
  void replyAtTheTokenLimitIsReportedAsCut() throws Exception {
    provider.then(recorded.answers.cut("It is a long"));

    ModelReply modelReply = provider.ask("tell me");

    assertEquals(ModelReply.End.CUT, modelReply.end());
    assertEquals(recorded.answers.isStream() ? "It is a long" : "", modelReply.text());
    assertEquals(1, provider.requests().size());
  }

  @Test
  void callsOfACutReplyAreNotMade() throws Exception {
    // Given
    provider.then(recorded.answers.cutWithinCall()).then(recorded.answers.text(WORDS));

    // When
    ModelReply modelReply = provider.ask("do");

    // Then
    assertEquals(ModelReply.End.CUT, modelReply.end());
    assertEquals(List.of(), modelReply.calls());
    // And the next request contains no call.
    provider.ask("go on");
    String again = provider.requests().get(1).text();
    assertFalse(
        again.contains("tool_calls") || again.contains("tool_use") || again.contains("functionC"),
        again);
  }

  @Test
  void conversationContinuesAfterAnEmptyReply() throws Exception {
    provider.then(recorded.answers.empty()).then(recorded.answers.text(WORDS));

    ModelReply modelReply = provider.ask("hm");
    provider.ask("well?");

    assertEquals(ModelReply.End.DONE, modelReply.end());
    assertEquals(recorded.answers.isStream() ? "" : "(none)", modelReply.text());
    assertFalse(provider.requests().get(1).text().contains("\"text\":\"\""), "an empty part");
  }

  @Test
  void keyAndPathAreCorrectForAnyTrailingSlashes() throws Exception {
    for (String end : List.of("", "/", "//")) {
      // Given
      provider.then(recorded.answers.text(WORDS));
      ChatModel model = provider.model(end, ScriptedProvider.KEY, Duration.ofSeconds(10), 100);

      // When
      model.reply(new ChatRequest("", ScriptedProvider.NO_TOOLS, List.of(), true), provider);
    }

    // Then
    assertEquals(3, provider.requests().size());
    for (EchoApi.Request request : provider.requests()) {
      assertEquals(recorded.path, request.path());
      assertEquals(recorded == Recorded.GEMINI ? "alt=sse" : "", request.query());
      assertEquals("application/json", request.header("content-type"));
      switch (recorded) {
        case ANTHROPIC -> {
          assertEquals(ScriptedProvider.KEY, request.header("x-api-key"));
          assertEquals("2023-06-01", request.header("anthropic-version"));
        }
        case GEMINI -> assertEquals(ScriptedProvider.KEY, request.header("x-goog-api-key"));
        default -> assertEquals("Bearer " + ScriptedProvider.KEY, request.header("authorization"));
      }
    }
    assertFalse(provider.model.name().contains(ScriptedProvider.KEY));
  }

  @Test
  void toolsAreSentOnlyIfThereAreAny() throws Exception {
    // Given
    for (int i = 0; i < 3; i++) {
      provider.then(recorded.answers.text(WORDS));
    }
    JsonNode tools = Json.exactTree(JsonSlice.of("[{\"function\":{\"name\":\"a_tool\"}}]"));

    // When
    provider.ask("one");
    provider.reply(tools, true);
    provider.reply(tools, false);

    // Then
    boolean isPrompt = recorded == Recorded.STRUCTURED;
    JsonNode without = provider.body(0);
    JsonNode with = provider.body(1);
    JsonNode last = provider.body(2);
    assertFalse(without.has("tools") || forbidsCalls(without), without.toString());
    assertFalse(forbidsCalls(with), with.toString());
    assertEquals(isPrompt ? "null" : tools.toString(), String.valueOf(with.get("tools")));
    assertEquals(isPrompt, with.at("/messages/0/content").asText().contains("a_tool"));
    assertEquals(!isPrompt, forbidsCalls(last), last.toString());
    assertEquals(isPrompt, last.at("/messages/0/content").asText().contains("must be null"));
  }

  private static boolean forbidsCalls(JsonNode request) {
    return request.path("tool_choice").asText().equals("none")
        || request.at("/tool_choice/type").asText().equals("none")
        || request.at("/toolConfig/functionCallingConfig/mode").asText().equals("NONE");
  }
}
