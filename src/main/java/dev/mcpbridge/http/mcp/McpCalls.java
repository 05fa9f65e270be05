package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Scope;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.call.Offer.Place;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The requests that reach a server: through the pipeline, with progress and log messages. */
final class McpCalls {
  private final Bus bus;
  private final CallPipeline pipeline;
  private final CallIds ids;
  private final McpGate gate;

  McpCalls(Bus bus, CallPipeline pipeline, CallIds ids) {
    this.bus = bus;
    this.pipeline = pipeline;
    this.ids = ids;
    this.gate = new McpGate(bus);
  }

  /** tools/call. Arguments that do not fit are the tool's failure, so that a model sees why. */
  Future<JsonSlice> tool(McpRequest request) {
    Place tool = place(request.offer()::tool, request.required("name"), "tool");
    return run(request, tool.server().id(), Target.tool(tool.name()), request.arguments())
        .recover(McpCalls::shownToTheModel);
  }

  /** prompts/get. */
  Future<JsonSlice> prompt(McpRequest request) {
    Place prompt = place(request.offer()::prompt, request.required("name"), "prompt");
    Target target = new Target(Target.Kind.PROMPT, prompt.name());
    return run(request, prompt.server().id(), target, request.arguments());
  }

  /** resources/read. */
  Future<JsonSlice> resource(McpRequest request) {
    String uri = request.required("uri");
    ServerId server = request.offer().resource(uri).orElseThrow(() -> unknownResource(uri));
    return run(request, server, new Target(Target.Kind.RESOURCE, uri), Arguments.NONE);
  }

  /** completion/complete; the reference gets the name that its server knows. */
  Future<JsonSlice> complete(McpRequest request) {
    JsonSlice ref = request.message().params().get("ref");
    Map<String, JsonSlice> members = ref == null ? Map.of() : JsonObjects.members(ref);
    String name = JsonObjects.string(members.get("name"));
    String uri = JsonObjects.string(members.get("uri"));
    JsonWriter params = new JsonWriter().beginObject();
    ServerId server;
    if (name != null) {
      Place prompt = place(request.offer()::prompt, name, "prompt");
      server = prompt.server().id();
      params.member("ref", JsonObjects.with(ref, "name", JsonObjects.quoted(prompt.name())));
    } else if (uri != null) {
      server = request.offer().resource(uri).orElseThrow(() -> unknownResource(uri));
      params.member("ref", ref);
    } else {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params.ref names no prompt or resource");
    }
    List.of("argument", "context").stream()
        .filter(request.message().params()::containsKey)
        .forEach(member -> params.member(member, request.message().params().get(member)));
    Arguments whole = Arguments.scanned(params.endObject().toSlice());
    return run(request, server, new Target(Target.Kind.COMPLETION, "completion"), whole);
  }

  /** Runs what a human has approved, as the answer to a request. */
  private Future<JsonSlice> approved(McpRequest request, Confirmation approved) {
    return heard(
        request,
        approved.call().server(),
        approved.call().id(),
        streams -> pipeline.runApproved(approved, streams).map(McpCalls::result));
  }

  void cancel(McpRequest.Running running, String reason) {
    pipeline.cancel(running.server(), running.callId(), reason);
  }

  private Future<JsonSlice> run(
      McpRequest request, ServerId server, Target target, Arguments arguments) {
    if (!request.client().principal().may(Scope.CALL)) {
      throw new BridgeException(ErrorCode.FORBIDDEN, "The scope call is required");
    }
    if (McpGate.isAnswered(request)) {
      return gate.resume(
          request,
          new McpGate.Intent(server, target, arguments.json()),
          approved -> approved(request, approved));
    }
    String callId = ids.next();
    String caller = request.client().principal().name();
    return heard(
            request,
            server,
            callId,
            streams ->
                pipeline.run(new CallRequest(callId, server, target, arguments, caller, streams)))
        .compose(
            outcome ->
                outcome instanceof CallOutcome.NeedsConfirmation asked
                    ? gate.ask(request, asked.pending(), approved -> approved(request, approved))
                    : Future.succeededFuture(result(outcome)));
  }

  /** Passes on what is said while a call runs, to those who want to hear it. */
  private <T> Future<T> heard(
      McpRequest request, ServerId server, String callId, Function<Boolean, Future<T>> call) {
    JsonSlice token = request.message().meta().get("progressToken");
    boolean streams =
        request.reply().takesStream() && (token != null || request.client().logLevel() != null);
    Runnable deaf =
        streams
            ? bus.subscribe(Addresses.callEvents(callId), event -> tell(request, token, event))
            : () -> {};
    request.client().began(request, new McpRequest.Running(server, callId));
    return call.apply(streams)
        .onComplete(
            done -> {
              deaf.run();
              request.client().ended(request);
            });
  }

  private static void tell(McpRequest request, JsonSlice token, CallEvent event) {
    if (event.name().equals("progress") && token != null) {
      JsonSlice params = JsonObjects.with(event.data(), "progressToken", token);
      request.reply().send(RpcReplies.notification(McpMethod.PROGRESS, params));
    } else if (event.name().equals("message") && isHeard(request.client(), event)) {
      request.reply().send(RpcReplies.notification(McpMethod.MESSAGE, event.data()));
    }
  }

  private static boolean isHeard(Client client, CallEvent event) {
    String level = JsonObjects.string(JsonObjects.members(event.data()).get("level"));
    return client.logLevel() != null && LogLevels.reaches(level, client.logLevel());
  }

  private static Place place(
      Function<String, java.util.Optional<Place>> offer, String name, String noun) {
    return offer
        .apply(name)
        .orElseThrow(
            () -> new BridgeException(ErrorCode.INVALID_PARAMS, "Unknown " + noun + ": " + name));
  }

  private static JsonSlice result(CallOutcome outcome) {
    return ((CallOutcome.Completed) outcome).result();
  }

  /** MCP 2025-11-25, server/tools: input validation errors are tool execution errors. */
  private static Future<JsonSlice> shownToTheModel(Throwable failure) {
    if (failure instanceof BridgeException known
        && known.code() == ErrorCode.INVALID_ARGUMENTS
        && known.members().get("errors") instanceof List<?> errors) {
      return Future.succeededFuture(ToolErrors.of(known.getMessage(), errors));
    }
    return Future.failedFuture(failure);
  }

  private static BridgeException unknownResource(String uri) {
    return new BridgeException(ErrorCode.INVALID_PARAMS, "Unknown resource").with("uri", uri);
  }
}
