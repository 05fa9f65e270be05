package dev.mcpbridge.trace;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.ToolResult;
import io.vertx.core.Future;

/** The spans of calls. Stateless. */
public final class CallSpans {
  private static final int MAX_NAME = 200;

  private CallSpans() {}

  /**
   * The name of a span of an MCP request; URIs are never in it.
   *
   * @param method one that is known: a name that callers choose would be unbounded
   */
  public static String name(String method, String tool) {
    return tool == null
        ? method
        : method + " " + tool.substring(0, Math.min(MAX_NAME, tool.length()));
  }

  /** Records that a call has waited for its turn. */
  public static void queued(Telemetry telemetry, Call call, long sinceNanos) {
    telemetry.counts().queued(call.server().name(), System.nanoTime() - sinceNanos);
    if (telemetry.tracer().isOn()) {
      telemetry
          .tracer()
          .begin(Span.Kind.INTERNAL, Conventions.QUEUE_SPAN, call.envelope(), sinceNanos)
          .set(Conventions.SERVER, call.server().name())
          .end();
    }
  }

  /** Begins the span of a request to the server of a call. */
  public static Span upstream(Tracer tracer, Call call) {
    if (!tracer.isOn()) {
      return Span.NONE;
    }
    Target target = call.target();
    Span span =
        tracer.begin(
            Span.Kind.CLIENT, name(target.kind().method(), named(target)), call.envelope());
    return target(span, target).set(Conventions.SERVER, call.server().name());
  }

  /** Adds what a request addresses. */
  public static Span target(Span span, Target target) {
    if (!span.isRecorded()) {
      return span;
    }
    span.set(Conventions.MCP_METHOD, target.kind().method());
    return switch (target.kind()) {
      case TOOL ->
          span.set(Conventions.TOOL_NAME, target.name())
              .set(Conventions.OPERATION, Conventions.EXECUTE_TOOL);
      case PROMPT -> span.set(Conventions.PROMPT_NAME, target.name());
      case RESOURCE -> span.set(Conventions.MCP_RESOURCE, withoutSecrets(target.name()));
      case COMPLETION -> span;
    };
  }

  /** A URI may have credentials before its host and in its query. */
  private static String withoutSecrets(String uri) {
    return uri.replaceFirst("[?#].*", "").replaceFirst("://[^/]*@", "://");
  }

  private static String named(Target target) {
    boolean isNamed = target.kind() == Target.Kind.TOOL || target.kind() == Target.Kind.PROMPT;
    return isNamed ? target.name() : null;
  }

  /** Ends the span of a request with its result. */
  public static Future<JsonSlice> until(Future<JsonSlice> result, Span span) {
    return span.isRecorded()
        ? result.onComplete(
            done -> {
              if (ToolResult.isError(done)) {
                span.failed(Conventions.TOOL_ERROR);
              }
              span.end();
            },
            failure -> failed(span, BridgeException.of(failure)).end())
        : result;
  }

  /** Ends the span of a request with the answer of its server. */
  public static void untilAnswered(Future<RpcMessage> answer, Span span) {
    if (span.isRecorded()) {
      until(answer.map(RpcMessage::payload), span);
    }
  }

  /** Adds a failure of a call, and whether it was executed. */
  public static Span failed(Span span, BridgeException failure) {
    return span.failed(failure.code().slug())
        .set(Conventions.EXECUTED, failure.executed().apiName());
  }
}
