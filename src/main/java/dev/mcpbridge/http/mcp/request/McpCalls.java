package dev.mcpbridge.http.mcp.request;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.call.ConcealedCalls;
import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.call.ToolLocation;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.ToolResult;
import io.vertx.core.Future;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Runs the requests that reach a server through the pipeline, with progress and log messages. */
public final class McpCalls {
  private static final Set<String> OWN_PARAMS =
      Set.of("name", "uri", "arguments", "ref", "argument", "context");

  /** With the answer to a question of the bridge, which is not forwarded. */
  private static final Set<String> OWN_ANSWERS =
      Set.of(
          "name",
          "uri",
          "arguments",
          "ref",
          "argument",
          "context",
          "inputResponses",
          "requestState");

  private final Bus bus;
  private final CallPipeline pipeline;
  private final CallIds ids;
  private final McpGate gate;
  private final SuspendedCalls suspendedCalls;
  private final UrlElicitation urlElicitation;
  private final LeanDiscovery lean;
  private final ConcealedCalls concealed;

  public McpCalls(
      Bus bus,
      CallPipeline pipeline,
      CallIds ids,
      LeanDiscovery lean,
      DecisionWaiter decisionWaiter,
      SuspendedCalls suspendedCalls,
      RequestStates states) {
    this.bus = bus;
    this.pipeline = pipeline;
    this.ids = ids;
    this.gate = new McpGate(bus, decisionWaiter, states, this::runApproved);
    this.suspendedCalls = suspendedCalls;
    this.urlElicitation = new UrlElicitation(pipeline.consents(), states);
    this.lean = lean;
    this.concealed = new ConcealedCalls(pipeline);
  }

  /** tools/call. Invalid arguments are a tool error, so that a model can read them. */
  public Future<JsonSlice> tool(McpRequest request) {
    String name = request.message().required("name");
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
      resolvedCall = LeanDiscovery.resolve(request.arguments());
      if (whole.tool(resolvedCall.name()).isEmpty()) {
        refuse(
            request,
            Target.Kind.TOOL,
            whole.concealedTool(resolvedCall.name()),
            resolvedCall.arguments());
        throw LeanDiscovery.unknown(resolvedCall.name());
      }
    } catch (BridgeException e) {
      return Future.succeededFuture(ToolResult.text(e.getMessage()).error());
    }
    return tool(request, whole, resolvedCall.name(), resolvedCall.arguments());
  }

  private Future<JsonSlice> tool(
      McpRequest request, ToolCatalogue toolCatalogue, String name, Arguments arguments) {
    refuse(request, Target.Kind.TOOL, toolCatalogue.concealedTool(name), arguments);
    ToolLocation tool = require(toolCatalogue.tool(name), "tool", name);
    return Future.succeededFuture(arguments)
        .map(tool::arguments)
        .compose(sent -> run(request, tool.server().id(), Target.tool(tool.name()), sent))
        .recover(McpCalls::asToolError);
  }

  /** prompts/get. */
  public Future<JsonSlice> prompt(McpRequest request) {
    String name = request.message().required("name");
    refuse(
        request,
        Target.Kind.PROMPT,
        request.toolCatalogue().concealedPrompt(name),
        request.arguments());
    ToolLocation prompt = prompt(request, name);
    Target target = new Target(Target.Kind.PROMPT, prompt.name());
    return run(request, prompt.server().id(), target, request.arguments());
  }

  /** resources/read. */
  public Future<JsonSlice> resource(McpRequest request) {
    String uri = request.message().required("uri");
    refuse(
        request,
        Target.Kind.RESOURCE,
        request.toolCatalogue().concealedResource(uri),
        Arguments.NONE);
    ToolCatalogue.Resource resource = request.resource(uri);
    Target target = new Target(Target.Kind.RESOURCE, resource.uri());
    return run(request, resource.server(), target, Arguments.NONE);
  }

  /** completion/complete; qualified names in the reference are mapped to those of the server. */
  public Future<JsonSlice> complete(McpRequest request) {
    Map<String, JsonSlice> params = new LinkedHashMap<>(request.message().params());
    params.remove("_meta");
    JsonSlice ref = params.getOrDefault("ref", JsonSlice.EMPTY_OBJECT);
    String name = JsonObjects.string(JsonObjects.members(ref).get("name"));
    String uri = JsonObjects.string(JsonObjects.members(ref).get("uri"));
    String type = JsonObjects.string(JsonObjects.members(ref).get("type"));
    if (name != null && uri != null
        || name != null && "ref/resource".equals(type)
        || uri != null && "ref/prompt".equals(type)) {
      throw new BridgeException(
          ErrorCode.INVALID_PARAMS,
          "params.ref must be a ref/prompt with a name, or a ref/resource with a uri");
    }
    ServerId server;
    if (name != null) {
      ToolLocation prompt = prompt(request, name);
      server = prompt.server().id();
      params.put("ref", JsonObjects.with(ref, "name", JsonObjects.quoted(prompt.name())));
    } else if (uri != null) {
      ToolCatalogue.Resource resource = request.resource(uri);
      server = resource.server();
      params.put("ref", JsonObjects.with(ref, "uri", JsonObjects.quoted(resource.uri())));
    } else {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params.ref must have a name or a uri");
    }
    Target target = new Target(Target.Kind.COMPLETION, "completion");
    return run(request, server, target, Arguments.fromScanned(JsonObjects.object(params), true));
  }

  private Future<JsonSlice> run(
      McpRequest request, ServerId server, Target target, Arguments arguments) {
    request.checkCancelled();
    CallIntent callIntent = new CallIntent(server, target, arguments.json());
    if (!request.caller().principal().may(Scope.CALL)) {
      // the pipeline refuses and records it
      return begin(request, callIntent, arguments, request.envelope(OWN_PARAMS));
    }
    return urlElicitation.isAnswered(request)
        ? urlElicitation.resume(
            request, () -> begin(request, callIntent, arguments, request.envelope(OWN_ANSWERS)))
        : runOrResume(request, callIntent, arguments);
  }

  private Future<JsonSlice> runOrResume(
      McpRequest request, CallIntent callIntent, Arguments arguments) {
    if (gate.isAnswered(request)) {
      return gate.resume(request, callIntent);
    }
    if (suspendedCalls.isResumption(request)) {
      return suspendedCalls.resume(request, callIntent);
    }
    refuseForeignState(request, callIntent.server());
    return begin(request, callIntent, arguments, request.envelope(OWN_PARAMS));
  }

  private Future<JsonSlice> begin(
      McpRequest request, CallIntent callIntent, Arguments arguments, Envelope envelope) {
    Future<JsonSlice> result =
        call(request, callIntent, arguments, envelope)
            .recover(failure -> urlElicitation.ask(request, callIntent.target(), failure));
    return request.client().takesRequests()
        ? result.compose(
            new InputRounds(
                    request,
                    input -> call(request, callIntent, arguments, envelope.withExtras(input)))
                ::settle)
        : result;
  }

  /** A server with a session stores no state at the client, so any requestState is foreign. */
  private static void refuseForeignState(McpRequest request, ServerId server) {
    boolean legacy =
        request.toolCatalogue().servers().stream()
            .anyMatch(s -> s.id().equals(server) && "legacy".equals(s.era()));
    if (legacy && request.message().params().containsKey("requestState")) {
      throw InputRequired.invalidState();
    }
  }

  private Future<JsonSlice> call(
      McpRequest request, CallIntent callIntent, Arguments arguments, Envelope envelope) {
    request.replyChannel().compress(null);
    ClientCall call = connect(request, callIntent, ids.next());
    Future<CallOutcome> outcome =
        pipeline.run(
            new CallRequest(
                call.id(),
                callIntent.server(),
                callIntent.target(),
                arguments,
                request.caller(),
                call.streams(),
                envelope));
    return call.follow(outcome.compose(done -> resultOrConfirmation(request, done)));
  }

  private Future<JsonSlice> resultOrConfirmation(McpRequest request, CallOutcome outcome) {
    return outcome instanceof CallOutcome.NeedsConfirmation needed
        ? gate.requestConfirmation(request, needed.pending())
        : Future.succeededFuture(result(request, outcome));
  }

  /** Runs an approved call as the response to a request. */
  private Future<JsonSlice> runApproved(McpRequest request, Confirmation approved) {
    Call confirmed = approved.call();
    CallIntent callIntent =
        new CallIntent(confirmed.server(), confirmed.target(), confirmed.arguments());
    ClientCall call = connect(request, callIntent, confirmed.id());
    return call.follow(
        pipeline.runApproved(approved, call.streams()).map(outcome -> result(request, outcome)));
  }

  private ClientCall connect(McpRequest request, CallIntent callIntent, String callId) {
    ClientCall call =
        new ClientCall(request, callId, cause -> pipeline.cancel(callId, cause.getMessage()));
    return call.connect(bus, suspendedCalls, callIntent);
  }

  private void refuse(
      McpRequest request, Target.Kind kind, Optional<ToolLocation> entry, Arguments arguments) {
    concealed.refuse(
        entry, kind, () -> arguments, request.caller(), () -> request.envelope(OWN_PARAMS));
  }

  private static ToolLocation prompt(McpRequest request, String name) {
    return require(request.toolCatalogue().prompt(name), "prompt", name);
  }

  private static ToolLocation require(Optional<ToolLocation> found, String noun, String name) {
    return found.orElseThrow(
        () -> new BridgeException(ErrorCode.INVALID_PARAMS, "Unknown " + noun + ": " + name));
  }

  private static JsonSlice result(McpRequest request, CallOutcome outcome) {
    request.replyChannel().compress(outcome.mayHaveSecret() ? null : Compressed.RESULTS);
    return ((CallOutcome.Completed) outcome).result();
  }

  /** MCP 2025-11-25, server/tools: input validation errors are tool execution errors. */
  private static Future<JsonSlice> asToolError(Throwable failure) {
    if (failure instanceof BridgeException exception
        && exception.code() == ErrorCode.INVALID_ARGUMENTS
        && exception.members().get("errors") instanceof List<?> errors) {
      String details = errors.stream().map(error -> "\n- " + error).collect(Collectors.joining());
      return Future.succeededFuture(ToolResult.text(exception.getMessage() + details).error());
    }
    return Future.failedFuture(failure);
  }
}
