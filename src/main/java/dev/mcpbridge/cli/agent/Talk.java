package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.agent.Human;
import dev.mcpbridge.agent.Limits;
import dev.mcpbridge.agent.Transcript;
import dev.mcpbridge.agent.Watcher;
import dev.mcpbridge.llm.ChatModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** One conversation, and all that belongs to it. */
final class Talk {
  private final BridgeTools tools;
  private final Agent agent;
  private final Function<String, ChatModel> models;
  private final List<String> transcript = new ArrayList<>();

  /**
   * What a conversation is between.
   *
   * @param models opens another one by its name
   */
  record Sides(
      BridgeTools tools, ChatModel model, Function<String, ChatModel> models, Limits limits) {}

  /**
   * @param written gets each line of the transcript as it is
   */
  Talk(Sides sides, Human human, Watcher watcher, Consumer<String> written) {
    this.tools = sides.tools();
    this.models = sides.models();
    Transcript kept = new Transcript(written.andThen(transcript::add));
    this.agent =
        new Agent(sides.model(), sides.tools(), human, Watcher.both(watcher, kept), sides.limits());
  }

  Agent agent() {
    return agent;
  }

  BridgeTools tools() {
    return tools;
  }

  ChatModel model() {
    return agent.model();
  }

  ChatModel other(String name) {
    return models.apply(name);
  }

  List<String> transcript() {
    return List.copyOf(transcript);
  }
}
