package dev.mcpbridge.http.agent;

import dev.mcpbridge.config.AgentConfig;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.Provider;
import dev.mcpbridge.llm.ReplayModel;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Clients of the configured model; each is used by one turn at a time, and again. Thread-safe. */
final class Models {
  private final AgentConfig config;
  private final JsonSlice description;
  private final Queue<ChatModel> idle = new ConcurrentLinkedQueue<>();

  Models(AgentConfig config) {
    this.config = config;
    this.description = described();
  }

  private boolean isReplay() {
    return config.provider().equals(AgentConfig.REPLAY);
  }

  /** The format of the model's messages. */
  Format format() {
    return isReplay() ? Format.OPENAI_CHAT : provider().format();
  }

  ChatModel take() {
    ChatModel model = idle.poll();
    return model == null ? open() : model;
  }

  void giveBack(ChatModel model) {
    idle.add(model);
  }

  private ChatModel open() {
    if (isReplay()) {
      return ReplayModel.demonstration();
    }
    return provider()
        .open(
            config.base(),
            config.key() == null ? null : config.key().reveal(),
            config.model(),
            Duration.ofMillis(config.timeoutMillis()),
            config.maxTokens());
  }

  private Provider provider() {
    return Provider.valueOf(config.provider().toUpperCase(Locale.ROOT));
  }

  private String name() {
    return config.model() == null ? provider().defaultModel() : config.model();
  }

  /** The model for people, and the questions of a recorded conversation. */
  JsonSlice description() {
    return description;
  }

  private JsonSlice described() {
    ReplayModel replay = isReplay() ? ReplayModel.demonstration() : null;
    JsonWriter out =
        new JsonWriter().beginObject().member("model", isReplay() ? replay.name() : name());
    out.name("questions").beginArray();
    (isReplay() ? replay.questions() : List.<String>of()).forEach(out::value);
    return out.endArray().endObject().toSlice();
  }
}
