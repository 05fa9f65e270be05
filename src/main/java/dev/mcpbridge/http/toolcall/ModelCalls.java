package dev.mcpbridge.http.toolcall;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.call.IdempotencyKeys;
import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.dialect.ArgumentRestorer;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.IdempotencyHeader;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The calls of one turn of a model: all at once, each through the gate, each with its own end. */
public final class ModelCalls {
  private static final int MAX_CALLS = 128;
  private static final int MAX_NAMED = 20;

  private final CallPipeline pipeline;
  private final CallIds ids;
  private final IdempotencyKeys idempotency;
  private final int maxDepth;
  private final InputSchemas schemas = new InputSchemas();
  private final LeanDiscovery lean;

  public ModelCalls(
      CallPipeline pipeline,
      CallIds ids,
      IdempotencyKeys idempotency,
      LeanDiscovery lean,
      int maxDepth) {
    this.pipeline = pipeline;
    this.ids = ids;
    this.idempotency = idempotency;
    this.lean = lean;
    this.maxDepth = maxDepth;
  }

  /** One turn: whose it is, and what it may be called again by. */
  private record ModelTurn(ToolCatalogue toolCatalogue, Caller caller, Optional<String> key) {
    /** Of one call, which is told from the others of its turn by its id or its place. */
    IdempotencyKeys.IdempotencyKey key(String call) {
      return new IdempotencyKeys.IdempotencyKey(caller.name(), "POST /toolcall " + call, key.get());
    }
  }

  void run(RoutingContext ctx, ToolCatalogue toolCatalogue, Optional<Format> wanted) {
    JsonSlice body = body(ctx);
    ModelMessage modelMessage =
        wanted.map(format -> told(body, format)).orElseGet(() -> told(body));
    List<FunctionCall> calls = named(modelMessage);
    if (calls.size() > MAX_CALLS) {
      throw new BridgeException(
          ErrorCode.INVALID_ARGUMENTS,
          "At most " + MAX_CALLS + " calls in a turn, found " + calls.size());
    }
    ModelTurn modelTurn =
        new ModelTurn(toolCatalogue, Callers.caller(ctx), IdempotencyHeader.of(ctx));
    Set<String> seen = new HashSet<>();
    List<Started> started = new ArrayList<>();
    for (FunctionCall call : calls) {
      String key = call.id() == null ? "#" + started.size() : call.id();
      started.add(start(call, modelTurn, key, seen.add(key)));
    }
    List<Future<CallOutcome>> outcomes = started.stream().map(Started::outcome).toList();
    List<CallRequest> running =
        started.stream().map(Started::request).filter(Objects::nonNull).toList();
    ctx.response().closeHandler(left -> pipeline.giveUp(running, outcomes));
    ToolResponses responses = new ToolResponses(modelMessage.format(), started, ids);
    Future.join(outcomes).onComplete(done -> Replies.json(ctx, 200, responses.write()));
  }

  private JsonSlice body(RoutingContext ctx) {
    Buffer body = ctx.body().buffer();
    if (body == null || body.length() == 0) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body is empty");
    }
    byte[] bytes = body.getBytes();
    try {
      JsonSlice read = JsonScanner.strict(maxDepth).document(bytes, 0, bytes.length);
      if (read.isObject() && JsonObjects.distinctMembers(read) == null) {
        throw new BridgeException(
            ErrorCode.MALFORMED_REQUEST, "The body has a member more than once");
      }
      return read;
    } catch (JsonSyntaxException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The body is not valid JSON: " + e.getMessage());
    }
  }

  /** What a model said, and in whose format. */
  private record ModelMessage(Format format, List<FunctionCall> calls) {}

  private static ModelMessage told(JsonSlice body, Format format) {
    return format
        .calls(body)
        .map(calls -> new ModelMessage(format, calls))
        .orElseThrow(() -> unknown(body));
  }

  /** By its shape; an empty list is the same in every format. */
  private static ModelMessage told(JsonSlice body) {
    for (Format format : Format.values()) {
      Optional<List<FunctionCall>> calls = format.calls(body);
      if (calls.isPresent()) {
        return new ModelMessage(format, calls.get());
      }
    }
    throw unknown(body);
  }

  private static BridgeException unknown(JsonSlice body) {
    return new BridgeException(
        ErrorCode.INVALID_ARGUMENTS,
        "Expected an assistant's message with tool_calls, a list of them, or what the Responses,"
            + " Messages or generateContent API answered; found "
            + (body.isArray() ? "a list of something else" : "something else"));
  }

  /** Gemini matches by order and needs no ids; elsewhere a call without one gets its place. */
  private static List<FunctionCall> named(ModelMessage modelMessage) {
    List<FunctionCall> named = new ArrayList<>();
    for (FunctionCall call : modelMessage.calls()) {
      boolean needsName = call.id() == null && modelMessage.format() != Format.GEMINI;
      String id = needsName ? "call_" + named.size() : call.id();
      named.add(new FunctionCall(id, call.name(), call.arguments()));
    }
    return named;
  }

  /**
   * A call and what becomes of it.
   *
   * @param request null where it has come to none
   */
  record Started(FunctionCall call, CallRequest request, Future<CallOutcome> outcome) {}

  /** A call that makes no sense fails alone. */
  private Started start(FunctionCall call, ModelTurn modelTurn, String key, boolean isFirst) {
    try {
      if (!isFirst) {
        throw new BridgeException(
            ErrorCode.INVALID_ARGUMENTS, "Another call of this turn has the same id");
      }
      if (modelTurn.toolCatalogue().whole().isPresent() && !lean.isCall(call.name())) {
        ToolCatalogue whole = modelTurn.toolCatalogue().whole().get();
        return new Started(
            call,
            null,
            lean.answer(whole, String.valueOf(call.name()), read(call.arguments()))
                .map(CallOutcome.Completed::new));
      }
      CallRequest request = request(call, modelTurn);
      return new Started(
          call,
          request,
          modelTurn.key().isPresent()
              ? pipeline.announced(
                  request,
                  () -> idempotency.once(modelTurn.key(key), request, () -> pipeline.run(request)))
              : pipeline.run(request));
    } catch (BridgeException e) {
      return new Started(call, null, Future.failedFuture(e));
    }
  }

  private Arguments read(JsonSlice arguments) {
    return Arguments.read(arguments.toBytes(), maxDepth, "The arguments text");
  }

  /** Of the tool itself, or of one that was found before. */
  private CallRequest request(FunctionCall call, ModelTurn modelTurn) {
    if (modelTurn.toolCatalogue().whole().isEmpty()) {
      return request(
          place(modelTurn.toolCatalogue(), call.name()), read(call.arguments()), modelTurn);
    }
    ToolCatalogue whole = modelTurn.toolCatalogue().whole().get();
    LeanDiscovery.ResolvedCall resolvedCall = lean.meant(whole, read(call.arguments()));
    return request(place(whole, resolvedCall.name()), resolvedCall.arguments(), modelTurn);
  }

  /** By its name in the list of functions, or by its server's own where no other one has it. */
  private static ToolCatalogue.ToolLocation place(ToolCatalogue toolCatalogue, String name) {
    if (name == null) {
      throw notFound(null);
    }
    return toolCatalogue
        .tool(name)
        .or(() -> only(toolCatalogue, name))
        .orElseThrow(() -> notFound(name));
  }

  private static Optional<ToolCatalogue.ToolLocation> only(
      ToolCatalogue toolCatalogue, String name) {
    List<String> meant = toolCatalogue.namesOf(name);
    if (meant.size() > 1) {
      String some = meant.stream().limit(MAX_NAMED).collect(Collectors.joining(", "));
      throw new BridgeException(
              ErrorCode.TOOL_NOT_FOUND,
              "Several servers have a function '"
                  + shown(name)
                  + "'; call it by the name of one of them: "
                  + some
                  + (meant.size() > MAX_NAMED ? ", …" : ""))
          .with("candidates", meant.stream().limit(MAX_NAMED).toList());
    }
    return meant.stream().findFirst().flatMap(toolCatalogue::tool);
  }

  private static BridgeException notFound(String name) {
    return new BridgeException(
        ErrorCode.TOOL_NOT_FOUND, "There is no function '" + shown(name) + "'");
  }

  private CallRequest request(
      ToolCatalogue.ToolLocation toolLocation, Arguments given, ModelTurn modelTurn) {
    Tool tool = toolLocation.server().catalogue().tools().get(toolLocation.name());
    return new CallRequest(
        ids.next(),
        toolLocation.server().id(),
        Target.tool(toolLocation.name()),
        meant(given, tool),
        modelTurn.caller(),
        false);
  }

  /** Numbers keep their digits: the exact tree is written only where something was changed. */
  private Arguments meant(Arguments given, Tool tool) {
    JsonNode schema = schemas.of(tool);
    if (schema == null || ArgumentRestorer.meant(given.tree(), schema) == given.tree()) {
      return given;
    }
    try {
      JsonNode exact = Json.exactTree(given.json());
      return Arguments.scanned(Json.slice(ArgumentRestorer.meant(exact, schema)), false);
    } catch (IOException e) {
      throw new IllegalStateException("the text was read before", e);
    }
  }

  private static String shown(String name) {
    return name == null || name.length() > 100 ? "…" : name.replaceAll("\\p{Cntrl}", "?");
  }
}
