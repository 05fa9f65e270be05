package dev.mcpbridge.llm;

import java.util.ArrayList;
import java.util.List;

/** Events of the Messages API. */
final class RecordedAnthropic implements Recorded.Answers {
  static final String SIGNATURE = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds+/=";

  private static final List<Block> THINKING =
      List.of(
          new Block(
              Recorded.json("{'type':'thinking','thinking':'','signature':''}"),
              List.of(
                  delta("thinking_delta", "thinking", "Let me "),
                  delta("thinking_delta", "thinking", "see."),
                  delta("signature_delta", "signature", SIGNATURE))),
          new Block(
              Recorded.json("{'type':'redacted_thinking','data':'EmwKAhgBEgy3va3pzix'}"),
              List.of()));

  private record Block(String start, List<String> deltas) {
    static Block text(List<String> words) {
      return new Block(
          Recorded.json("{'type':'text','text':''}"),
          words.stream().map(piece -> delta("text_delta", "text", piece)).toList());
    }

    static Block call(Recorded.Call call, List<String> pieces) {
      return new Block(
          Recorded.json(
              "{'type':'tool_use','id':'%s','name':'%s','input':{},'caller':{'type':'direct'}}",
              call.id(), call.name()),
          pieces.stream().map(piece -> delta("input_json_delta", "partial_json", piece)).toList());
    }
  }

  private static String delta(String type, String member, String text) {
    return Recorded.json("{'type':'%s','%s':%s}", type, member, Recorded.quoted(text));
  }

  private static String event(String type, String members, Object... values) {
    return Recorded.json(
        "event: %s\ndata: {'type':'%s'%s}\n\n", type, type, Recorded.json(members, values));
  }

  private static List<String> events(String stop, List<Block> blocks) {
    List<String> events = new ArrayList<>();
    events.add(
        event(
            "message_start",
            """
            ,'message':{'id':'msg_01XFDUDYJgAACzvnptvVoYEL','type':'message','role':'assistant',\
            'model':'claude-sonnet-4-5-20250929','content':[],'stop_reason':null,\
            'stop_sequence':null,'usage':{'input_tokens':8,'cache_creation_input_tokens':1,\
            'cache_read_input_tokens':2,'cache_creation':{'ephemeral_5m_input_tokens':1,\
            'ephemeral_1h_input_tokens':0},'output_tokens':1,'service_tier':'standard'}}"""));
    events.add(event("ping", ""));
    for (int i = 0; i < blocks.size(); i++) {
      Block block = blocks.get(i);
      events.add(event("content_block_start", ",'index':%d,'content_block':%s", i, block.start()));
      for (String delta : block.deltas()) {
        events.add(event("content_block_delta", ",'index':%d,'delta':%s", i, delta));
      }
      events.add(event("content_block_stop", ",'index':%d", i));
    }
    events.add(
        event(
            "message_delta",
            ",'delta':{'stop_reason':'%s','stop_sequence':null},'usage':{'output_tokens':7}",
            stop));
    events.add(event("message_stop", ""));
    return events;
  }

  @Override
  public List<String> text(List<String> words) {
    return events("end_turn", List.of(Block.text(words)));
  }

  @Override
  public List<String> calls(String words, List<Recorded.Call> calls) {
    List<Block> blocks = new ArrayList<>(THINKING);
    if (!words.isEmpty()) {
      blocks.add(Block.text(List.of(words)));
    }
    for (Recorded.Call call : calls) {
      List<String> pieces = new ArrayList<>(List.of(""));
      pieces.addAll(Recorded.pieces(call.arguments()));
      blocks.add(Block.call(call, pieces));
    }
    return events("tool_use", blocks);
  }

  @Override
  public List<String> refused() {
    return events("refusal", List.of());
  }

  @Override
  public List<String> cut(String words) {
    return events("max_tokens", List.of(Block.text(List.of(words))));
  }

  @Override
  public List<String> cutWithinCall() {
    Recorded.Call call = new Recorded.Call("toolu_1", "f", "");
    return events("max_tokens", List.of(Block.call(call, List.of())));
  }

  @Override
  public List<String> empty() {
    return events("end_turn", List.of());
  }

  @Override
  public String failure(String sentence) {
    return "event: error\ndata: " + error(529, sentence) + "\n\n";
  }

  @Override
  public String error(int status, String sentence) {
    return Recorded.json(
        "{'type':'error','error':{'type':'some_error','message':%s},'request_id':'req_011CSHoEe'}",
        Recorded.quoted(sentence));
  }
}
