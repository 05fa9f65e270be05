package dev.mcpbridge.llm;

import java.util.ArrayList;
import java.util.List;

/** Events of Messages. */
final class RecordedAnthropic implements Recorded.Answers {
  static final String SIGNATURE = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds+/=";

  private static String event(String type, String members) {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + members + "}\n\n";
  }

  private static List<String> begun() {
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

  private static List<String> ended(List<String> events, String stop) {
    events.add(
        event(
            "message_delta",
            ",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":7}"
                .formatted(stop)));
    events.add(event("message_stop", ""));
    return events;
  }

  private static void block(List<String> events, int index, String block, List<String> deltas) {
    events.add(
        event("content_block_start", ",\"index\":%d,\"content_block\":%s".formatted(index, block)));
    deltas.forEach(
        delta ->
            events.add(
                event(
                    "content_block_delta", ",\"index\":%d,\"delta\":%s".formatted(index, delta))));
    events.add(event("content_block_stop", ",\"index\":" + index));
  }

  private static void words(List<String> events, int index, List<String> words) {
    block(
        events,
        index,
        "{\"type\":\"text\",\"text\":\"\"}",
        words.stream()
            .map(more -> "{\"type\":\"text_delta\",\"text\":" + Recorded.quoted(more) + "}")
            .toList());
  }

  private static void thought(List<String> events) {
    block(
        events,
        0,
        "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}",
        List.of(
            "{\"type\":\"thinking_delta\",\"thinking\":\"Let me \"}",
            "{\"type\":\"thinking_delta\",\"thinking\":\"see.\"}",
            "{\"type\":\"signature_delta\",\"signature\":\"" + SIGNATURE + "\"}"));
    block(
        events, 1, "{\"type\":\"redacted_thinking\",\"data\":\"EmwKAhgBEgy3va3pzix\"}", List.of());
  }

  private static String toolUse(Recorded.Call call) {
    return "{\"type\":\"tool_use\",\"id\":%s,\"name\":%s,\"input\":{},\"caller\":{\"type\":\"direct\"}}"
        .formatted(Recorded.quoted(call.id()), Recorded.quoted(call.name()));
  }

  @Override
  public List<String> text(List<String> words) {
    List<String> events = begun();
    words(events, 0, words);
    return ended(events, "end_turn");
  }

  @Override
  public List<String> calls(String words, List<Recorded.Call> calls) {
    List<String> events = begun();
    thought(events);
    int index = 2;
    if (!words.isEmpty()) {
      words(events, index++, List.of(words));
    }
    for (Recorded.Call call : calls) {
      List<String> pieces = new ArrayList<>(List.of(""));
      pieces.addAll(Recorded.pieces(call.arguments()));
      block(
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
    return ended(events, "tool_use");
  }

  @Override
  public List<String> refused() {
    return ended(begun(), "refusal");
  }

  @Override
  public List<String> cut(String words) {
    List<String> events = begun();
    words(events, 0, List.of(words));
    return ended(events, "max_tokens");
  }

  @Override
  public List<String> cutWithinCall() {
    List<String> events = begun();
    block(events, 0, toolUse(new Recorded.Call("toolu_1", "f", "")), List.of());
    return ended(events, "max_tokens");
  }

  @Override
  public List<String> empty() {
    return ended(begun(), "end_turn");
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
