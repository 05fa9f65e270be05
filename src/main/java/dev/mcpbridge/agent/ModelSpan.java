package dev.mcpbridge.agent;

import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.llm.ModelReply;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.trace.Conventions;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.trace.Tracer;

/** The span of a request to a model (semantic conventions of generative AI). Stateless. */
final class ModelSpan {
  private ModelSpan() {}

  static Span begin(Tracer tracer, ChatModel model, Envelope parent) {
    return tracer
        .begin(Span.Kind.CLIENT, Conventions.CHAT + " " + model.model(), parent)
        .set(Conventions.OPERATION, Conventions.CHAT)
        .set(Conventions.PROVIDER, provider(model.format()))
        .set(Conventions.MODEL, model.model());
  }

  private static String provider(Format format) {
    return switch (format) {
      case OPENAI_CHAT, OPENAI_RESPONSES -> "openai";
      case ANTHROPIC -> "anthropic";
      case GEMINI -> "gcp.gemini";
    };
  }

  static void used(Span span, ModelReply modelReply) {
    span.set(Conventions.INPUT_TOKENS, modelReply.usage().input())
        .set(Conventions.OUTPUT_TOKENS, modelReply.usage().output());
  }
}
