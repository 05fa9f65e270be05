package dev.mcpbridge.http.toolcall;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.call.Batch;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.call.ConcealedCalls;
import dev.mcpbridge.call.IdempotencyKeys;
import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.call.ToolLocation;
import dev.mcpbridge.dialect.ArgumentRestorer;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.FunctionCall;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.IdempotencyHeader;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.RequestSpan;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Runs the tool calls of one turn of a model; each passes the gate and ends on its own. */
public final class ModelCalls {
  private static final int MAX_CALLS = 128;
  private static final int MAX_CANDIDATES = 20;

  /** A larger schema is not used, as for validation. */
  private static final int MAX_SCHEMA_BYTES = 1 << 20;

  private final CallPipeline pipeline;
  private final CallIds ids;
  private final IdempotencyKeys idempotency;
  private final int maxDepth;
  private final LeanDiscovery lean;
  private final ConcealedCalls concealed;

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
    this.concealed = new ConcealedCalls(pipeline);
  }

  /**
   * One turn of a model, with its caller and its idempotency key.
   *
   * @param schemas the parsed schemas of their tools, so that a large one is parsed once a turn
   */
  private record ModelTurn(
      String path,
      ToolCatalogue toolCatalogue,
      Caller caller,
      Envelope envelope,
      Optional<String> key,
      Map<JsonSlice, JsonNode> schemas,
      Batch batch) {
    /** The idempotency key of one call, which its id or position distinguishes within the turn. */
    IdempotencyKeys.IdempotencyKey key(String call) {
      return new IdempotencyKeys.IdempotencyKey(
          caller.name(), "POST " + path + " " + call, key.get());
    }
  }

  void run(RoutingContext ctx, ToolCatalogue toolCatalogue, Optional<Format> requested) {
    JsonSlice body = body(ctx);
    ModelMessage modelMessage = ModelMessage.parse(body, requested);
    List<FunctionCall> calls = modelMessage.callsWithIds();
    if (calls.size() > MAX_CALLS) {
      throw new BridgeException(
          ErrorCode.INVALID_ARGUMENTS,
          "At most " + MAX_CALLS + " calls in a turn, found " + calls.size());
    }
    ModelTurn modelTurn =
        new ModelTurn(
            MountPoint.path(ctx),
            toolCatalogue,
            Callers.caller(ctx),
            RequestSpan.envelope(ctx),
            IdempotencyHeader.of(ctx),
            new HashMap<>(),
            new Batch(
                Batch.Terms.of(
                    Queries.single(ctx, "concurrency"), Queries.single(ctx, "onError"))));
    Set<String> seen = new HashSet<>();
    List<Started> started = new ArrayList<>();
    for (FunctionCall call : calls) {
      String key = call.id() == null ? "#" + started.size() : call.id();
      started.add(start(call, modelTurn, key, seen.add(key)));
    }
    List<Future<CallOutcome>> outcomes = started.stream().map(Started::outcome).toList();
    List<CallRequest> running =
        started.stream().map(Started::request).filter(Objects::nonNull).toList();
    ctx.response()
        .closeHandler(
            closed -> {
              modelTurn.batch().cancel();
              pipeline.cancelAll(running, outcomes);
              if (modelTurn.key().isEmpty()) {
                pipeline.withdrawAll(modelTurn.caller(), outcomes);
              }
            });
    ToolResponses responses = new ToolResponses(ctx, modelMessage.format(), started, ids);
    Future.join(outcomes).onComplete(done -> responses.send());
  }

  private JsonSlice body(RoutingContext ctx) {
    Buffer body = ctx.body().buffer();
    if (body == null || body.length() == 0) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body is empty");
    }
    byte[] bytes = body.getBytes();
    try {
      JsonSlice json = JsonScanner.strict(maxDepth).document(bytes, 0, bytes.length);
      if (json.isObject() && JsonObjects.distinctMembers(json) == null) {
        throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body has a duplicate member");
      }
      return json;
    } catch (JsonSyntaxException e) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST, "The body is not valid JSON: " + e.getMessage());
    }
  }

  /**
   * A call that was started.
   *
   * @param request null if the call was rejected or answered by lean discovery
   */
  record Started(FunctionCall call, CallRequest request, Future<CallOutcome> outcome) {}

  /** Starts one call; an invalid call fails alone. */
  private Started start(FunctionCall call, ModelTurn modelTurn, String key, boolean isFirst) {
    Batch batch = modelTurn.batch();
    try {
      if (!isFirst) {
        throw new BridgeException(
            ErrorCode.INVALID_ARGUMENTS, "Another call of this turn has the same id");
      }
      if (modelTurn.toolCatalogue().full().isPresent() && !lean.isCall(call.name())) {
        ToolCatalogue whole = modelTurn.toolCatalogue().full().get();
        Arguments question = read(call.arguments());
        String name = String.valueOf(call.name());
        return new Started(
            call,
            null,
            batch.add(() -> lean.answer(whole, name, question).map(CallOutcome.Completed::new)));
      }
      CallRequest request = request(call, modelTurn);
      return new Started(call, request, batch.add(() -> run(request, modelTurn, key)));
    } catch (BridgeException e) {
      return new Started(call, null, batch.add(() -> Future.failedFuture(e)));
    }
  }

  private Future<CallOutcome> run(CallRequest request, ModelTurn modelTurn, String key) {
    return modelTurn.key().isPresent()
        ? pipeline.register(
            request,
            () -> idempotency.once(modelTurn.key(key), request, () -> pipeline.runNext(request)))
        : pipeline.runNext(request);
  }

  private Arguments read(JsonSlice arguments) {
    return Arguments.read(arguments.toBytes(), maxDepth, "The arguments text");
  }

  /** The request for the named function, or for the one that a lean discovery call names. */
  private CallRequest request(FunctionCall call, ModelTurn modelTurn) {
    if (modelTurn.toolCatalogue().full().isEmpty()) {
      ToolLocation tool = find(call, modelTurn);
      return request(tool, read(call.arguments()), modelTurn);
    }
    ToolCatalogue whole = modelTurn.toolCatalogue().full().get();
    LeanDiscovery.ResolvedCall resolvedCall = LeanDiscovery.resolve(read(call.arguments()));
    String name = resolvedCall.name();
    Optional<ToolLocation> tool = whole.tool(name);
    if (tool.isEmpty()) {
      refuse(whole.concealedTool(name), resolvedCall::arguments, modelTurn);
      throw LeanDiscovery.unknown(name);
    }
    return request(tool.get(), resolvedCall.arguments(), modelTurn);
  }

  private void refuse(
      Optional<ToolLocation> tool, Supplier<Arguments> arguments, ModelTurn modelTurn) {
    concealed.refuse(tool, Target.Kind.TOOL, arguments, modelTurn.caller(), modelTurn::envelope);
  }

  /** Finds a tool by its function name, or by its server's own name if that is unambiguous. */
  private ToolLocation find(FunctionCall call, ModelTurn modelTurn) {
    String name = call.name();
    if (name == null) {
      throw notFound(null);
    }
    ToolCatalogue toolCatalogue = modelTurn.toolCatalogue();
    Optional<ToolLocation> tool =
        toolCatalogue.tool(name).or(() -> findUnique(toolCatalogue, name));
    if (tool.isEmpty()) {
      refuse(toolCatalogue.concealedTool(name), () -> read(call.arguments()), modelTurn);
      throw notFound(name);
    }
    return tool.get();
  }

  private static Optional<ToolLocation> findUnique(ToolCatalogue toolCatalogue, String name) {
    List<String> candidates = toolCatalogue.namesOf(name);
    if (candidates.size() > 1) {
      String listed = candidates.stream().limit(MAX_CANDIDATES).collect(Collectors.joining(", "));
      throw new BridgeException(
              ErrorCode.TOOL_NOT_FOUND,
              "Several servers have a function '"
                  + Problems.printable(name)
                  + "'; use one of these names: "
                  + listed
                  + (candidates.size() > MAX_CANDIDATES ? ", …" : ""))
          .with("candidates", candidates.stream().limit(MAX_CANDIDATES).toList());
    }
    return candidates.stream().findFirst().flatMap(toolCatalogue::tool);
  }

  private static BridgeException notFound(String name) {
    return new BridgeException(
        ErrorCode.TOOL_NOT_FOUND, "Function '" + Problems.printable(name) + "' not found");
  }

  private CallRequest request(ToolLocation toolLocation, Arguments given, ModelTurn modelTurn) {
    return new CallRequest(
        ids.next(),
        toolLocation.server().id(),
        Target.tool(toolLocation.name()),
        toolLocation.arguments(restored(given, toolLocation.tool().inputSchema(), modelTurn)),
        modelTurn.caller(),
        false,
        modelTurn.envelope());
  }

  /** Restores argument types. Numbers keep their digits; unchanged arguments are not rewritten. */
  private static Arguments restored(Arguments given, JsonSlice schema, ModelTurn modelTurn) {
    if (schema == null
        || schema.length() > MAX_SCHEMA_BYTES
        || !ArgumentRestorer.isCandidate(given.tree())) {
      return given;
    }
    try {
      JsonNode exact = Json.exactTree(given.json());
      JsonNode parsed = modelTurn.schemas().get(schema);
      if (parsed == null) {
        parsed = Json.tree(schema);
        modelTurn.schemas().put(schema, parsed);
      }
      JsonNode restored = ArgumentRestorer.restore(exact, parsed);
      return restored == exact ? given : Arguments.fromScanned(Json.slice(restored), false);
    } catch (IOException unreadableSchema) {
      return given;
    }
  }
}
