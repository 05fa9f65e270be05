package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.auth.Scope;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.call.DecidedCalls;
import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.call.ToolCatalogue.ToolLocation;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.CallEvent;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.RpcWriter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/** Runs the requests that reach a server through the pipeline, with progress and log messages. */
public final class McpCalls {
  private static final Set<String> OWN_PARAMS =
      Set.of("name", "uri", "arguments", "ref", "argument", "context");

  private static final long CLIENT_TIMEOUT_MILLIS = 300_000;

  private final Bus bus;
  private final CallPipeline pipeline;
  private final CallIds ids;
  private final McpGate gate;
  private final SuspendedCalls suspendedCalls;
  private final LeanDiscovery lean;

  public McpCalls(
      Vertx vertx,
      Bus bus,
      CallPipeline pipeline,
      DecidedCalls decided,
      CallIds ids,
      LeanDiscovery lean) {
    this.bus = bus;
    this.pipeline = pipeline;
    this.ids = ids;
    String statePrefix = "mcp-bridge/" + ids.nextUnguessable() + "/";
    this.gate = new McpGate(bus, new DecisionWaiter(vertx, decided), statePrefix);
    this.suspendedCalls = new SuspendedCalls(vertx, statePrefix);
    this.lean = lean;
  }

  /** tools/call. Invalid arguments are a tool error, so that a model can read them. */
  public Future<JsonSlice> tool(McpRequest request) {
    String name = request.required("name");
    return request.toolCatalogue().full().isPresent()
        ? runLean(request, request.toolCatalogue().full().get(), name)
        : tool(request, request.toolCatalogue(), name, request.arguments());
  }

  /** Runs a tool of lean discovery; a failure is a tool error that the model can read. */
  private Future<JsonSlice> runLean(McpRequest request, ToolCatalogue whole, String name) {
    LeanDiscovery.ResolvedCall resolvedCall;
    try {
      if (!lean.isCall(name)) {
        return lean.answer(whole, name, request.arguments());
      }
      resolvedCall = lean.resolve(whole, request.arguments());
    } catch (BridgeException e) {
      return Future.succeededFuture(ToolErrors.of(e.getMessage()));
    }
    return tool(request, whole, resolvedCall.name(), resolvedCall.arguments());
  }

  private Future<JsonSlice> tool(
      McpRequest request, ToolCatalogue toolCatalogue, String name, Arguments arguments) {
    ToolLocation tool = locate(toolCatalogue::tool, name, "tool");
    CallIntent callIntent = intent(tool.server().id(), Target.tool(tool.name()), arguments);
    return run(request, callIntent, arguments).recover(McpCalls::asToolError);
  }

  /** prompts/get. */
  public Future<JsonSlice> prompt(McpRequest request) {
    ToolLocation prompt =
        locate(request.toolCatalogue()::prompt, request.required("name"), "prompt");
    Target target = new Target(Target.Kind.PROMPT, prompt.name());
    Arguments arguments = request.arguments();
    return run(request, intent(prompt.server().id(), target, arguments), arguments);
  }

  /** resources/read. */
  public Future<JsonSlice> resource(McpRequest request) {
    ToolCatalogue.Resource resource = request.resource(request.required("uri"));
    Target target = new Target(Target.Kind.RESOURCE, resource.uri());
    return run(request, intent(resource.server(), target, Arguments.NONE), Arguments.NONE);
  }

  /** completion/complete; qualified names in the reference are mapped to those of the server. */
  public Future<JsonSlice> complete(McpRequest request) {
    JsonSlice ref = request.message().params().get("ref");
    Map<String, JsonSlice> members = ref == null ? Map.of() : JsonObjects.members(ref);
    String name = JsonObjects.string(members.get("name"));
    String uri = JsonObjects.string(members.get("uri"));
    JsonWriter params = new JsonWriter().beginObject();
    ServerId server;
    if (name != null) {
      ToolLocation prompt = locate(request.toolCatalogue()::prompt, name, "prompt");
      server = prompt.server().id();
      params.member("ref", JsonObjects.with(ref, "name", JsonObjects.quoted(prompt.name())));
    } else if (uri != null) {
      ToolCatalogue.Resource resource = request.resource(uri);
      server = resource.server();
      params.member("ref", JsonObjects.with(ref, "uri", JsonObjects.quoted(resource.uri())));
    } else {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params.ref must have a name or a uri");
    }
    request
        .message()
        .params()
        .forEach(
            (member, value) -> {
              if (!member.equals("ref") && !member.equals("_meta")) {
                params.member(member, value);
              }
            });
    Arguments completion = Arguments.fromScanned(params.endObject().toSlice(), true);
    Target target = new Target(Target.Kind.COMPLETION, "completion");
    return run(request, intent(server, target, completion), completion);
  }

  /** Runs an approved call as the response to a request. */
  private Future<JsonSlice> runApproved(McpRequest request, Confirmation approved) {
    return runWithEvents(
        request,
        new CallIntent(
            approved.call().server(), approved.call().target(), approved.call().arguments()),
        approved.call().id(),
        streams -> pipeline.runApproved(approved, streams).map(McpCalls::result));
  }

  public void cancel(McpRequest.RunningCall runningCall, String reason) {
    pipeline.cancel(runningCall.callId(), reason);
  }

  private Future<JsonSlice> run(McpRequest request, CallIntent callIntent, Arguments arguments) {
    if (!request.client().principal().may(Scope.CALL)) {
      throw new BridgeException(ErrorCode.FORBIDDEN, "The scope 'call' is required");
    }
    if (request.client().hasCancelled(request)) {
      throw cancelled();
    }
    if (gate.isAnswered(request)) {
      return gate.resume(request, callIntent, approved -> runApproved(request, approved));
    }
    if (suspendedCalls.isResumption(request)) {
      return suspendedCalls.resume(request, callIntent);
    }
    refuseForeignState(request, callIntent);
    Envelope envelope = request.envelope(OWN_PARAMS);
    return request
        .client()
        .settle(
            request,
            call(request, callIntent, arguments, envelope),
            input -> call(request, callIntent, arguments, envelope.withExtras(input)));
  }

  /** A server with a session stores no state at the client, so any requestState is foreign. */
  private static void refuseForeignState(McpRequest request, CallIntent callIntent) {
    boolean legacy =
        request.toolCatalogue().servers().stream()
            .anyMatch(s -> s.id().equals(callIntent.server()) && "legacy".equals(s.era()));
    if (legacy && request.message().params().containsKey("requestState")) {
      throw InputRequired.invalidState();
    }
  }

  private Future<JsonSlice> call(
      McpRequest request, CallIntent callIntent, Arguments arguments, Envelope envelope) {
    String callId = ids.next();
    return runWithEvents(
        request,
        callIntent,
        callId,
        streams ->
            pipeline
                .run(
                    new CallRequest(
                        callId,
                        callIntent.server(),
                        callIntent.target(),
                        arguments,
                        request.caller(),
                        streams,
                        envelope))
                .compose(
                    outcome ->
                        outcome instanceof CallOutcome.NeedsConfirmation needed
                            ? gate.requestConfirmation(
                                request,
                                needed.pending(),
                                approved -> runApproved(request, approved))
                            : Future.succeededFuture(result(outcome))));
  }

  /** Runs a call and forwards its progress and log messages to a client that accepts them. */
  private Future<JsonSlice> runWithEvents(
      McpRequest request,
      CallIntent callIntent,
      String callId,
      Function<Boolean, Future<JsonSlice>> call) {
    if (request.client().hasCancelled(request)) {
      return Future.failedFuture(cancelled());
    }
    JsonSlice token = request.progressToken();
    boolean streams =
        request.replyChannel().takesStream()
            && (token != null || request.client().logLevel() != null);
    Runnable unsubscribe =
        streams
            ? bus.subscribe(
                Addresses.callEvents(callId), event -> forwardEvent(request, token, event))
            : () -> {};
    McpRequest.RunningCall runningCall = new McpRequest.RunningCall(callIntent.server(), callId);
    request.client().callStarted(request, runningCall);
    return runWithServerRequests(request, callIntent, runningCall, () -> call.apply(streams))
        .onComplete(
            done -> {
              unsubscribe.run();
              request.client().callEnded(request);
            });
  }

  /** Runs a call and forwards server requests to its client, in the way of the client's era. */
  private Future<JsonSlice> runWithServerRequests(
      McpRequest request,
      CallIntent callIntent,
      McpRequest.RunningCall runningCall,
      Supplier<Future<JsonSlice>> call) {
    if (request.client().capabilities().length() <= 2) {
      return call.get();
    }
    if (request.client().takesRequests()) {
      Runnable unregister =
          bus.serve(
              Addresses.clientRequest(runningCall.callId()),
              serverRequest ->
                  request
                      .client()
                      .sendRequest(
                          request,
                          serverRequest.method(),
                          serverRequest.params(),
                          CLIENT_TIMEOUT_MILLIS));
      return call.get().onComplete(done -> unregister.run());
    }
    SuspendedCalls.SuspendedCall suspended = suspendedCalls.open(request, callIntent, runningCall);
    Runnable unregister = bus.serve(Addresses.clientRequest(runningCall.callId()), suspended::ask);
    return suspended.follow(call.get().onComplete(done -> unregister.run())).nextResult();
  }

  private static void forwardEvent(McpRequest request, JsonSlice token, CallEvent event) {
    if (event.name().equals("progress") && token != null) {
      JsonSlice params = JsonObjects.with(event.data(), "progressToken", token);
      request.replyChannel().send(RpcWriter.notification(McpMethod.PROGRESS, params).toSlice());
    } else if (event.name().equals("message") && isAccepted(request.client(), event)) {
      request
          .replyChannel()
          .send(RpcWriter.notification(McpMethod.MESSAGE, event.data()).toSlice());
    }
  }

  private static boolean isAccepted(Client client, CallEvent event) {
    String level = JsonObjects.string(JsonObjects.members(event.data()).get("level"));
    return client.logLevel() != null && LogLevels.reaches(level, client.logLevel());
  }

  private static ToolLocation locate(
      Function<String, java.util.Optional<ToolLocation>> lookup, String name, String noun) {
    return lookup
        .apply(name)
        .orElseThrow(
            () -> new BridgeException(ErrorCode.INVALID_PARAMS, "Unknown " + noun + ": " + name));
  }

  private static CallIntent intent(ServerId server, Target target, Arguments arguments) {
    return new CallIntent(server, target, arguments.json());
  }

  private static JsonSlice result(CallOutcome outcome) {
    return ((CallOutcome.Completed) outcome).result();
  }

  /** MCP 2025-11-25, server/tools: input validation errors are tool execution errors. */
  private static Future<JsonSlice> asToolError(Throwable failure) {
    if (failure instanceof BridgeException exception
        && exception.code() == ErrorCode.INVALID_ARGUMENTS
        && exception.members().get("errors") instanceof List<?> errors) {
      return Future.succeededFuture(ToolErrors.of(exception.getMessage(), errors));
    }
    return Future.failedFuture(failure);
  }

  private static BridgeException cancelled() {
    return new BridgeException(ErrorCode.CANCELLED, "The client cancelled the request");
  }
}
