package dev.mcpbridge.cli.agent;

import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.AgentLimits;
import dev.mcpbridge.agent.AgentListener;
import dev.mcpbridge.agent.Approver;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.agent.Transcript;
import dev.mcpbridge.llm.ChatModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** A conversation with its agent, its tools and its transcript. */
final class Conversation {
  private final BridgeTools tools;
  private final Agent agent;
  private final Function<String, ChatModel> models;
  private final List<String> transcript = new ArrayList<>();

  /**
   * The participants of a conversation.
   *
   * @param models opens another model by its name
   */
  record Participants(
      BridgeTools tools,
      ChatModel model,
      Function<String, ChatModel> models,
      AgentLimits agentLimits) {}

  /**
   * @param written receives each line of the transcript
   */
  Conversation(
      Participants participants,
      Approver approver,
      AgentListener agentListener,
      Consumer<String> written) {
    this.tools = participants.tools();
    this.models = participants.models();
    Transcript transcriptWriter = new Transcript(written.andThen(transcript::add));
    this.agent =
        new Agent(
            participants.model(),
            participants.tools(),
            approver,
            AgentListener.both(agentListener, transcriptWriter),
            participants.agentLimits());
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

  ChatModel openModel(String name) {
    return models.apply(name);
  }

  List<String> transcript() {
    return List.copyOf(transcript);
  }
}
