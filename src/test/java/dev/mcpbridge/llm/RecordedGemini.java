package dev.mcpbridge.llm;

import java.util.ArrayList;
import java.util.List;

/** Chunks of streamGenerateContent, with CR LF line ends as sent by the API. */
final class RecordedGemini implements Recorded.Answers {
  static final String SIGNATURE = "CpcBAdHtim/lC0RqLqPMRqyt4WbnDx5wQZGg==";
  private static final String THOUGHT =
      Recorded.json("{'text':'**Looking**\\n\\nI see.\\n','thought':true}");

  private static String chunk(String parts, String finish) {
    return Recorded.json(
        """
        data: {'candidates': [{'content': {%s'role': 'model'}%s,'index': 0}],'usageMetadata': {\
        'promptTokenCount': 11,'candidatesTokenCount': 5,'totalTokenCount': 18,\
        'promptTokensDetails': [{'modality': 'TEXT','tokenCount': 11}],'thoughtsTokenCount': 2},\
        'modelVersion': 'gemini-2.5-flash','responseId': 'mAitaLmkHPPlz7IPvtfUqQ4'}\r\n\r\n""",
        parts == null ? "" : "\"parts\": [" + parts + "],",
        finish == null ? "" : ",\"finishReason\": \"" + finish + "\"");
  }

  private static String part(String words) {
    return Recorded.json("{'text': %s}", Recorded.quoted(words));
  }

  @Override
  public List<String> text(List<String> words) {
    List<String> events = new ArrayList<>();
    words.forEach(piece -> events.add(chunk(part(piece), null)));
    events.add(chunk(part(""), "STOP"));
    return events;
  }

  @Override
  public List<String> calls(String words, List<Recorded.Call> calls) {
    List<String> events = new ArrayList<>(List.of(chunk(THOUGHT, null)));
    if (!words.isEmpty()) {
      events.add(chunk(part(words), null));
    }
    for (int i = 0; i < calls.size(); i++) {
      Recorded.Call call = calls.get(i);
      String id = call.id() == null ? "" : ",\"id\":" + Recorded.quoted(call.id());
      String arguments = call.arguments().isEmpty() ? "{}" : call.arguments();
      events.add(
          chunk(
              Recorded.json(
                  "{'functionCall': {'name': '%s','args': %s%s}%s}",
                  call.name(),
                  arguments,
                  id,
                  i == 0 ? ",\"thoughtSignature\": \"" + SIGNATURE + "\"" : ""),
              null));
    }
    events.add(chunk(part(""), "STOP"));
    return events;
  }

  @Override
  public List<String> refused() {
    return List.of(chunk(null, "SAFETY"));
  }

  @Override
  public List<String> cut(String words) {
    return List.of(chunk(part(words), null), chunk(null, "MAX_TOKENS"));
  }

  @Override
  public List<String> cutWithinCall() {
    return List.of(
        chunk(Recorded.json("{'functionCall': {'name': 'f','args': {}}}"), null),
        chunk(null, "MAX_TOKENS"));
  }

  @Override
  public List<String> empty() {
    return List.of(chunk(part(""), "STOP"));
  }

  @Override
  public String failure(String sentence) {
    return "data: " + error(503, sentence) + "\r\n\r\n";
  }

  @Override
  public String error(int status, String sentence) {
    return Recorded.json(
        "{  'error': {    'code': %d,    'message': %s,    'status': 'SOME'  }}",
        status, Recorded.quoted(sentence));
  }
}
