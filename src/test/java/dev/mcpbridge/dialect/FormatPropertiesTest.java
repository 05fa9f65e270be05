package dev.mcpbridge.dialect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class FormatPropertiesTest {
  private static final List<String> TEXTS =
      List.of("call_1", "", "ü", "🎉", "a\"b", "a\\b", "a\nb", "\u2028", "a b", "a__b", "{}");

  private static final List<String> BLOCKS =
      List.of(
          "{'type':'text','text':'some \\u00fc words'}",
          "{'type':'image','data':'aW1hZ2U=','mimeType':'image/png'}",
          "{'type':'image','data':'PHN2Zz4=','mimeType':'image/svg+xml'}",
          "{'type':'audio','data':'c291bmQ=','mimeType':'audio/wav'}",
          "{'type':'audio','data':'b2dnb2c=','mimeType':'audio/ogg'}",
          "{'type':'resource','resource':{'uri':'file:///a','text':'a text file'}}",
          "{'type':'resource','resource':{'uri':'a','mimeType':'application/pdf','blob':'cGRm'}}",
          "{'type':'resource','resource':{'uri':'a','mimeType':'application/zip','blob':'emlw'}}",
          "{'type':'resource_link','uri':'file:///linked','name':'l'}",
          "{'type':'new','what':'unknown'}");

  private record Call(String id, String name, String arguments) {}

  @Property(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
  void readsCallsInEveryShape(@ForAll Format format, @ForAll("calls") List<Call> calls) {
    for (String body : bodies(format, calls)) {
      // When
      List<FunctionCall> read = format.calls(JsonSlice.of(body)).orElseThrow();

      // Then
      assertEquals(calls.size(), read.size());
      for (int i = 0; i < calls.size(); i++) {
        assertEquals(calls.get(i).id(), read.get(i).id());
        assertEquals(calls.get(i).name(), read.get(i).name());
        assertArrayEquals(
            calls.get(i).arguments().getBytes(StandardCharsets.UTF_8),
            read.get(i).arguments().toBytes());
      }
    }
  }

  @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
  void formatIsRecognisedByItsShape(@ForAll Format format, @ForAll("calls") List<Call> calls) {
    for (String body : bodies(format, calls)) {
      // When
      List<Format> matching =
          Stream.of(Format.values())
              .filter(each -> each.calls(JsonSlice.of(body)).isPresent())
              .toList();

      // Then
      assertEquals(List.of(format), matching, body);
    }
  }

  @Property(tries = 1_000, edgeCases = EdgeCasesMode.NONE)
  void resultsKeepTheOrderOfCalls(@ForAll Format format, @ForAll("results") List<String> results)
      throws Exception {
    // Given
    List<FunctionResult> answers = new ArrayList<>();
    for (String result : results) {
      FunctionCall call = new FunctionCall("id" + answers.size(), "f", JsonSlice.EMPTY_OBJECT);
      answers.add(
          new FunctionResult(
              call, false, ContentBlock.of(JsonObjects.members(JsonSlice.of(result)))));
    }

    // When
    JsonNode messages = Json.tree(format.messages(answers));

    // Then
    assertTrue(messages.isArray());
    assertEquals(
        answers.stream().map(answer -> answer.call().id()).toList(), ids(format, messages));
  }

  @Property(tries = 1_000, edgeCases = EdgeCasesMode.NONE)
  void noPartOfAResultIsLost(@ForAll Format format, @ForAll("results") List<String> results)
      throws Exception {
    for (String result : results) {
      // Given
      FunctionCall call = new FunctionCall("id", "f", JsonSlice.EMPTY_OBJECT);
      List<ContentBlock> parts = ContentBlock.of(JsonObjects.members(JsonSlice.of(result)));

      // When
      JsonNode messages =
          Json.tree(format.messages(List.of(new FunctionResult(call, false, parts))));

      // Then
      String all = texts(messages).collect(Collectors.joining("\n"));
      for (ContentBlock contentBlock : parts) {
        boolean isIncluded =
            contentBlock instanceof ContentBlock.Media media && all.contains(media.data());
        assertTrue(
            isIncluded || all.contains(contentBlock.words()), () -> contentBlock + " in " + all);
      }
      JsonNode structured = Json.tree(result).path("structuredContent");
      assertTrue(structured.isMissingNode() || all.contains(structured.toString()));
    }
  }

  @Provide
  Arbitrary<List<Call>> calls() {
    return Arbitraries.randomValue(
        random ->
            Stream.generate(
                    () -> new Call(text(random), text(random), RandomJson.object(random, 4)))
                .limit(1 + random.nextInt(3))
                .toList());
  }

  @Provide
  Arbitrary<List<String>> results() {
    return Arbitraries.randomValue(
        random -> Stream.generate(() -> result(random)).limit(1 + random.nextInt(3)).toList());
  }

  private static String text(Random random) {
    return TEXTS.get(random.nextInt(TEXTS.size())) + (char) ('a' + random.nextInt(26));
  }

  private static String result(Random random) {
    String blocks =
        Stream.generate(() -> BLOCKS.get(random.nextInt(BLOCKS.size())))
            .limit(random.nextInt(4))
            .collect(Collectors.joining(","));
    String structured = random.nextBoolean() ? ",'structuredContent':{'n':1.5,'s':'ü'}" : "";
    return ("{'content':[" + blocks + "]" + structured + "}").replace('\'', '"');
  }

  private static String callText(Format format, Call call) {
    String id = RandomJson.quoted(call.id());
    String name = RandomJson.quoted(call.name());
    String text = RandomJson.quoted(call.arguments());
    return switch (format) {
      case OPENAI_CHAT ->
          String.format(
              "{\"id\":%s,\"type\":\"function\",\"function\":{\"name\":%s,\"arguments\":%s}}",
              id, name, text);
      case OPENAI_RESPONSES ->
          String.format(
              "{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":%s,\"name\":%s,"
                  + "\"arguments\":%s,\"status\":\"completed\"}",
              id, name, text);
      case ANTHROPIC ->
          String.format(
              "{\"type\":\"tool_use\",\"id\":%s,\"name\":%s,\"input\":%s}",
              id, name, call.arguments());
      case GEMINI ->
          String.format(
              "{\"functionCall\":{\"id\":%s,\"name\":%s,\"args\":%s},\"thoughtSignature\":\"x\"}",
              id, name, call.arguments());
    };
  }

  /** The calls as a bare list, in a message, and in a complete response of the API. */
  private static List<String> bodies(Format format, List<Call> calls) {
    String all =
        calls.stream().map(call -> callText(format, call)).collect(Collectors.joining(","));
    List<String> bodies = new ArrayList<>();
    if (calls.size() == 1) {
      bodies.add(all);
    }
    bodies.add("[" + all + "]");
    switch (format) {
      case OPENAI_CHAT -> {
        String message = "{'role':'assistant','content':null,'tool_calls':[%s]}";
        bodies.add(filled(message, all));
        bodies.add(filled("{'object':'x','choices':[{'index':0,'message':" + message + "}]}", all));
      }
      case OPENAI_RESPONSES -> {
        bodies.add(filled("[{'type':'reasoning','summary':[]},%s]", all));
        bodies.add(filled("{'object':'response','output':[{'type':'message'},%s]}", all));
      }
      case ANTHROPIC -> {
        bodies.add(filled("{'role':'assistant','content':[{'type':'text','text':''},%s]}", all));
        bodies.add(filled("{'type':'message','stop_reason':'tool_use','content':[%s]}", all));
      }
      case GEMINI -> {
        String content = "{'role':'model','parts':[{'text':'x'},%s]}";
        bodies.add(filled(content, all));
        bodies.add(filled("{'candidates':[{'content':" + content + "}],'x':{}}", all));
      }
    }
    return bodies;
  }

  private static String filled(String pattern, String all) {
    return pattern.replace('\'', '"').replace("%s", all);
  }

  private static List<String> ids(Format format, JsonNode messages) {
    String path =
        switch (format) {
          case OPENAI_CHAT -> "tool_call_id";
          case OPENAI_RESPONSES -> "call_id";
          case ANTHROPIC -> "tool_use_id";
          case GEMINI -> "id";
        };
    return messages.findValuesAsText(path);
  }

  /** All strings in a tree. */
  static Stream<String> texts(JsonNode node) {
    return node.isTextual()
        ? Stream.of(node.textValue())
        : node.valueStream().flatMap(FormatPropertiesTest::texts);
  }
}
