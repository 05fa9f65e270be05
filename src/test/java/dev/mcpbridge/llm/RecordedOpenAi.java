package dev.mcpbridge.llm;

import java.util.ArrayList;
import java.util.List;

/** Chunks of Chat Completions. */
final class RecordedOpenAi implements Recorded.Answers {
  private static final String USAGE =
      Recorded.json(
          """
          {'prompt_tokens':11,'completion_tokens':7,'total_tokens':18,\
          'prompt_tokens_details':{'cached_tokens':0,'audio_tokens':0},\
          'completion_tokens_details':{'reasoning_tokens':2,'audio_tokens':0,\
          'accepted_prediction_tokens':0,'rejected_prediction_tokens':0}}""");

  private static String data(String choices, String usage) {
    return Recorded.json(
        """
        data: {'id':'chatcmpl-BxK2','object':'chat.completion.chunk','created':1754500000,\
        'model':'gpt-5-mini-2025-08-07','service_tier':'default','system_fingerprint':null,\
        'choices':%s,'usage':%s,'obfuscation':'aZ3'}

        """,
        choices, usage);
  }

  static String delta(String delta, String finish) {
    return data(
        Recorded.json(
            "[{'index':0,'delta':%s,'logprobs':null,'finish_reason':%s}]",
            delta, Recorded.quoted(finish)),
        "null");
  }

  private static List<String> startEvents(String content) {
    List<String> events = new ArrayList<>();
    events.add(": OPENROUTER PROCESSING\n\n");
    events.add(
        delta(Recorded.json("{'role':'assistant','content':%s,'refusal':null}", content), null));
    return events;
  }

  private static List<String> withEnd(List<String> events, String finish) {
    events.add(delta("{}", finish));
    events.add(data("[]", USAGE));
    events.add("data: [DONE]\n\n");
    return events;
  }

  private static String content(String words) {
    return delta(Recorded.json("{'content':%s}", Recorded.quoted(words)), null);
  }

  @Override
  public List<String> text(List<String> words) {
    List<String> events = startEvents("\"\"");
    words.forEach(piece -> events.add(content(piece)));
    return withEnd(events, "stop");
  }

  @Override
  public List<String> calls(String words, List<Recorded.Call> calls) {
    List<String> events = startEvents("null");
    if (!words.isEmpty()) {
      events.add(content(words));
    }
    for (int i = 0; i < calls.size(); i++) {
      events.add(opened(i, calls.get(i)));
      int index = i;
      Recorded.pieces(calls.get(i).arguments())
          .forEach(piece -> events.add(arguments(index, piece)));
    }
    return withEnd(events, "tool_calls");
  }

  private static String opened(int index, Recorded.Call call) {
    return delta(
        Recorded.json(
            "{'tool_calls':[{'index':%d,'id':'%s','type':'function','function':{'name':'%s','arguments':''}}]}",
            index, call.id(), call.name()),
        null);
  }

  private static String arguments(int index, String piece) {
    return delta(
        Recorded.json(
            "{'tool_calls':[{'index':%d,'function':{'arguments':%s}}]}",
            index, Recorded.quoted(piece)),
        null);
  }

  @Override
  public List<String> refused() {
    List<String> events = startEvents("\"\"");
    events.add(delta("{\"refusal\":\"I'm sorry, \"}", null));
    events.add(delta("{\"refusal\":\"but no.\"}", null));
    return withEnd(events, "stop");
  }

  @Override
  public List<String> cut(String words) {
    List<String> events = startEvents("\"\"");
    events.add(content(words));
    return withEnd(events, "length");
  }

  @Override
  public List<String> cutWithinCall() {
    List<String> events = startEvents("null");
    events.add(opened(0, new Recorded.Call("call_a1", "f", "")));
    return withEnd(events, "length");
  }

  @Override
  public List<String> empty() {
    return withEnd(startEvents("\"\""), "stop");
  }

  @Override
  public String failure(String sentence) {
    return "data: " + error(500, sentence) + "\n\n";
  }

  @Override
  public String error(int status, String sentence) {
    return Recorded.json(
        "{'error':{'message':%s,'type':'some_error','param':null,'code':null}}",
        Recorded.quoted(sentence));
  }
}
