package dev.mcpbridge.llm;

import java.util.List;

/** Complete responses of Chat Completions whose content is JSON that matches the schema. */
final class RecordedStructured implements Recorded.Answers {

  static String whole(String content, String refusal, String finish) {
    return Recorded.json(
        """
        {'id':'chatcmpl-B9MB','object':'chat.completion','created':1754500000,\
        'model':'gpt-5-mini-2025-08-07','choices':[{'index':0,'message':{'role':'assistant',\
        'content':%s,'refusal':%s,'annotations':[]},'logprobs':null,'finish_reason':'%s'}],\
        'usage':{'prompt_tokens':11,'completion_tokens':7,'total_tokens':18},\
        'service_tier':'default','system_fingerprint':null}""",
        Recorded.quoted(content), Recorded.quoted(refusal), finish);
  }

  @Override
  public List<String> text(List<String> words) {
    String quoted = Recorded.quoted(String.join("", words));
    return List.of(whole(Recorded.json("{'callTool':null,'toUser':%s}", quoted), null, "stop"));
  }

  @Override
  public List<String> calls(String words, List<Recorded.Call> calls) {
    String content =
        Recorded.json(
            "{'callTool':{'name':'%s','arguments':%s},'toUser':null}",
            calls.get(0).name(), Recorded.quoted(calls.get(0).arguments()));
    return List.of(whole(content, null, "stop"));
  }

  @Override
  public List<String> refused() {
    return List.of(whole(null, "I'm sorry, but no.", "stop"));
  }

  @Override
  public List<String> cut(String words) {
    return List.of(whole(Recorded.json("{'callTool':null,'toUser':'%s", words), null, "length"));
  }

  @Override
  public List<String> cutWithinCall() {
    return List.of(whole(Recorded.json("{'callTool':{'name':'f','arguments':'"), null, "length"));
  }

  @Override
  public List<String> empty() {
    return text(List.of("(none)"));
  }

  @Override
  public String failure(String sentence) {
    return error(500, sentence);
  }

  @Override
  public String error(int status, String sentence) {
    return new RecordedOpenAi().error(status, sentence);
  }

  @Override
  public boolean isStream() {
    return false;
  }
}
