package dev.mcpbridge.llm;

import java.util.ArrayList;
import java.util.List;

/** Events of the Messages API. */
final class RecordedAnthropic implements Recorded.Answers {
  static final String SIGNATURE = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds+/=";

  private static String event(String type, String members) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + members + "}\n\n";
  }

  private static List<String> startEvents() {
    List<String> events = new ArrayList<>();
    events.add(
        event(
            "message_start",
            ",\"message\":{\"id\":\"msg_01XFDUDYJgAACzvnptvVoYEL\",\"type\":\"message\","
                + "\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5-20250929\",\"content\":[],"
                + "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":8,"
                + "\"cache_creation_input_tokens\":1,\"cache_read_input_tokens\":2,"
                + "\"cache_creation\":{\"ephemeral_5m_input_tokens\":1,"
                + "\"ephemeral_1h_input_tokens\":0},\"output_tokens\":1,"
                + "\"service_tier\":\"standard\"}}"));
    events.add(event("ping", ""));
    return events;
  }

  private static List<String> withEnd(List<String> events, String stop) {
    events.add(
        event(
            "message_delta",
            ",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":7}"
                .formatted(stop)));
    events.add(event("message_stop", ""));
    return events;
  }

  private static void addBlock(List<String> events, int index, String block, List<String> deltas) {
    events.add(
        event("content_block_start", ",\"index\":%d,\"content_block\":%s".formatted(index, block)));
    deltas.forEach(
        delta ->
            events.add(
                event(
                    "content_block_delta", ",\"index\":%d,\"delta\":%s".formatted(index, delta))));
    events.add(event("content_block_stop", ",\"index\":" + index));
  }

  private static void addText(List<String> events, int index, List<String> words) {
    addBlock(
        events,
        index,
        "{\"type\":\"text\",\"text\":\"\"}",
        words.stream()
            .map(piece -> "{\"type\":\"text_delta\",\"text\":" + Recorded.quoted(piece) + "}")
            .toList());
  }

  private static void addThinking(List<String> events) {
    addBlock(
        events,
        0,
        "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}",
        List.of(
            "{\"type\":\"thinking_delta\",\"thinking\":\"Let me \"}",
            "{\"type\":\"thinking_delta\",\"thinking\":\"see.\"}",
            "{\"type\":\"signature_delta\",\"signature\":\"" + SIGNATURE + "\"}"));
    addBlock(
        events, 1, "{\"type\":\"redacted_thinking\",\"data\":\"EmwKAhgBEgy3va3pzix\"}", List.of());
  }

  private static String toolUse(Recorded.Call call) {
    return "{\"type\":\"tool_use\",\"id\":%s,\"name\":%s,\"input\":{},\"caller\":{\"type\":\"direct\"}}"
        .formatted(Recorded.quoted(call.id()), Recorded.quoted(call.name()));
  }

  @Override
  public List<String> text(List<String> words) {
    List<String> events = startEvents();
    addText(events, 0, words);
    return withEnd(events, "end_turn");
  }

  @Override
  public List<String> calls(String words, List<Recorded.Call> calls) {
    List<String> events = startEvents();
    addThinking(events);
    int index = 2;
    if (!words.isEmpty()) {
      addText(events, index++, List.of(words));
    }
    for (Recorded.Call call : calls) {
      List<String> pieces = new ArrayList<>(List.of(""));
      pieces.addAll(Recorded.pieces(call.arguments()));
      addBlock(
          events,
          index++,
          toolUse(call),
          pieces.stream()
              .map(
                  piece ->
                      "{\"type\":\"input_json_delta\",\"partial_json\":%s}"
                          .formatted(Recorded.quoted(piece)))
              .toList());
    }
    return withEnd(events, "tool_use");
  }

  @Override
  public List<String> refused() {
    return withEnd(startEvents(), "refusal");
  }

  @Override
  public List<String> cut(String words) {
    List<String> events = startEvents();
    addText(events, 0, List.of(words));
    return withEnd(events, "max_tokens");
  }

  @Override
  public List<String> cutWithinCall() {
    List<String> events = startEvents();
    addBlock(events, 0, toolUse(new Recorded.Call("toolu_1", "f", "")), List.of());
    return withEnd(events, "max_tokens");
  }

  @Override
  public List<String> empty() {
    return withEnd(startEvents(), "end_turn");
  }

  @Override
  public String failure(String sentence) {
    return "event: error\ndata: " + error(529, sentence) + "\n\n";
  }

  @Override
  public String error(int status, String sentence) {
    return "{\"type\":\"error\",\"error\":{\"type\":\"some_error\",\"message\":%s},\"request_id\":\"req_011CSHoEeqs5C35K2UUqR7Fy\"}"
        .formatted(Recorded.quoted(sentence));
  }
}
