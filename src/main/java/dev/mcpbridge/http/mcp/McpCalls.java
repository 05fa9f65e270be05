package dev.mcpbridge.http.mcp;

import dev.mcpbridge.auth.Scope;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.call.CallIds;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallPipeline;
import dev.mcpbridge.call.CallRequest;
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
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/** The requests that reach a server: through the pipeline, with progress and log messages. */
final class McpCalls {
  private static final Set<String> OWN =
      Set.of("name", "uri", "arguments", "ref", "argument", "context");

  private static final long QUESTION_MILLIS = 300_000;

  private final Bus bus;
  private final CallPipeline pipeline;
  private final CallIds ids;
  private final McpGate gate;
  private final SuspendedCalls open;
  private final LeanDiscovery lean;

  McpCalls(McpDoor.Dependencies on) {
    this.bus = on.bus();
    this.pipeline = on.pipeline();
    this.ids = on.ids();
    String mark = "mcp-bridge/" + ids.nextUnguessable() + "/";
    this.gate = new McpGate(bus, new DecisionWait(on.vertx(), on.decided()), mark);
    this.open = new SuspendedCalls(on.vertx(), mark);
    this.lean = new LeanDiscovery(on.vertx());
  }

  /** tools/call. Arguments that do not fit are the tool's failure, so that a model sees why. */
  Future<JsonSlice> tool(McpRequest request) {
    String name = request.required("name");
    return request.toolCatalogue().whole().isPresent()
        ? found(request, request.toolCatalogue().whole().get(), name)
        : tool(request, request.toolCatalogue(), name, request.arguments());
  }

  /** A tool that was found, or the finding itself; a model is told what it got wrong. */
  private Future<JsonSlice> found(McpRequest request, ToolCatalogue whole, String name) {
    LeanDiscovery.ResolvedCall resolvedCall;
    try {
      if (!lean.isCall(name)) {
        return lean.answer(whole, name, request.arguments());
      }
      resolvedCall = lean.meant(whole, request.arguments());
    } catch (BridgeException e) {
      return Future.succeededFuture(ToolErrors.of(e.getMessage()));
    }
    return tool(request, whole, resolvedCall.name(), resolvedCall.arguments());
  }

  private Future<JsonSlice> tool(
      McpRequest request, ToolCatalogue toolCatalogue, String name, Arguments arguments) {
    ToolLocation tool = place(toolCatalogue::tool, name, "tool");
    CallIntent callIntent = intent(tool.server().id(), Target.tool(tool.name()), arguments);
    return run(request, callIntent, arguments).recover(McpCalls::shownToTheModel);
  }

  /** prompts/get. */
  Future<JsonSlice> prompt(McpRequest request) {
    ToolLocation prompt =
        place(request.toolCatalogue()::prompt, request.required("name"), "prompt");
    Target target = new Target(Target.Kind.PROMPT, prompt.name());
    Arguments arguments = request.arguments();
    return run(request, intent(prompt.server().id(), target, arguments), arguments);
  }

  /** resources/read. */
  Future<JsonSlice> resource(McpRequest request) {
    ToolCatalogue.Resource resource = request.resource(request.required("uri"));
    Target target = new Target(Target.Kind.RESOURCE, resource.uri());
    return run(request, intent(resource.server(), target, Arguments.NONE), Arguments.NONE);
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
      ToolLocation prompt = place(request.toolCatalogue()::prompt, name, "prompt");
      server = prompt.server().id();
      params.member("ref", JsonObjects.with(ref, "name", JsonObjects.quoted(prompt.name())));
    } else if (uri != null) {
      ToolCatalogue.Resource resource = request.resource(uri);
      server = resource.server();
      params.member("ref", JsonObjects.with(ref, "uri", JsonObjects.quoted(resource.uri())));
    } else {
      throw new BridgeException(ErrorCode.INVALID_PARAMS, "params.ref names no prompt or resource");
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
    Arguments whole = Arguments.scanned(params.endObject().toSlice(), true);
    Target target = new Target(Target.Kind.COMPLETION, "completion");
    return run(request, intent(server, target, whole), whole);
  }

  /** Runs what a human has approved, as the answer to a request. */
  private Future<JsonSlice> approved(McpRequest request, Confirmation approved) {
    return heard(
        request,
        new CallIntent(
            approved.call().server(), approved.call().target(), approved.call().arguments()),
        approved.call().id(),
        streams -> pipeline.runApproved(approved, streams).map(McpCalls::result));
  }

  void cancel(McpRequest.RunningCall runningCall, String reason) {
    pipeline.cancel(runningCall.server(), runningCall.callId(), reason);
  }

  private Future<JsonSlice> run(McpRequest request, CallIntent callIntent, Arguments arguments) {
    if (!request.client().principal().may(Scope.CALL)) {
      throw new BridgeException(ErrorCode.FORBIDDEN, "The scope call is required");
    }
    if (request.client().hasGivenUp(request)) {
      throw givenUp();
    }
    if (gate.isAnswered(request)) {
      return gate.resume(request, callIntent, approved -> approved(request, approved));
    }
    if (open.isMeant(request)) {
      return open.resume(request, callIntent);
    }
    refuseForeignState(request, callIntent);
    Envelope envelope = request.envelope(OWN);
    Future<JsonSlice> first = call(request, callIntent, arguments, envelope);
    return request.client() instanceof LegacySession session
        ? first.compose(
            result ->
                new InputRounds(
                        request,
                        session,
                        extras ->
                            call(
                                request,
                                callIntent,
                                arguments,
                                new Envelope(
                                    extras,
                                    envelope.meta(),
                                    envelope.capabilities(),
                                    envelope.logLevel())))
                    .settle(result))
        : first;
  }

  /** A server with a session keeps no state at the client, so whatever comes was never its own. */
  private static void refuseForeignState(McpRequest request, CallIntent callIntent) {
    boolean legacy =
        request.toolCatalogue().servers().stream()
            .anyMatch(s -> s.id().equals(callIntent.server()) && "legacy".equals(s.era()));
    if (legacy && request.message().params().containsKey("requestState")) {
      throw InputRequired.foreignState();
    }
  }

  private Future<JsonSlice> call(
      McpRequest request, CallIntent callIntent, Arguments arguments, Envelope envelope) {
    String callId = ids.next();
    return heard(
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
                        outcome instanceof CallOutcome.NeedsConfirmation asked
                            ? gate.ask(request, asked.pending(), yes -> approved(request, yes))
                            : Future.succeededFuture(result(outcome))));
  }

  /** Passes on what is said and asked while a call runs, to a client that wants it. */
  private Future<JsonSlice> heard(
      McpRequest request,
      CallIntent callIntent,
      String callId,
      Function<Boolean, Future<JsonSlice>> call) {
    if (request.client().hasGivenUp(request)) {
      return Future.failedFuture(givenUp());
    }
    JsonSlice token = request.progressToken();
    boolean streams =
        request.replyChannel().takesStream()
            && (token != null || request.client().logLevel() != null);
    Runnable deaf =
        streams
            ? bus.subscribe(Addresses.callEvents(callId), event -> tell(request, token, event))
            : () -> {};
    McpRequest.RunningCall runningCall = new McpRequest.RunningCall(callIntent.server(), callId);
    request.client().began(request, runningCall);
    return asking(request, callIntent, runningCall, () -> call.apply(streams))
        .onComplete(
            done -> {
              deaf.run();
              request.client().ended(request);
            });
  }

  /** Lets the server ask the client of a call, in the way of the client's era. */
  private Future<JsonSlice> asking(
      McpRequest request,
      CallIntent callIntent,
      McpRequest.RunningCall runningCall,
      Supplier<Future<JsonSlice>> call) {
    if (request.client().capabilities().length() <= 2) {
      return call.get();
    }
    if (request.client() instanceof LegacySession session) {
      Runnable mute =
          bus.serve(
              Addresses.question(runningCall.callId()),
              serverRequest ->
                  session.ask(
                      request, serverRequest.method(), serverRequest.params(), QUESTION_MILLIS));
      return call.get().onComplete(done -> mute.run());
    }
    SuspendedCalls.SuspendedCall opened = open.open(request, callIntent, runningCall);
    Runnable mute = bus.serve(Addresses.question(runningCall.callId()), opened::ask);
    return opened.follow(call.get().onComplete(done -> mute.run())).nextWord();
  }

  private static void tell(McpRequest request, JsonSlice token, CallEvent event) {
    if (event.name().equals("progress") && token != null) {
      JsonSlice params = JsonObjects.with(event.data(), "progressToken", token);
      request.replyChannel().send(RpcReplies.notification(McpMethod.PROGRESS, params));
    } else if (event.name().equals("message") && isHeard(request.client(), event)) {
      request.replyChannel().send(RpcReplies.notification(McpMethod.MESSAGE, event.data()));
    }
  }

  private static boolean isHeard(Client client, CallEvent event) {
    String level = JsonObjects.string(JsonObjects.members(event.data()).get("level"));
    return client.logLevel() != null && LogLevels.reaches(level, client.logLevel());
  }

  private static ToolLocation place(
      Function<String, java.util.Optional<ToolLocation>> offer, String name, String noun) {
    return offer
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
  private static Future<JsonSlice> shownToTheModel(Throwable failure) {
    if (failure instanceof BridgeException known
        && known.code() == ErrorCode.INVALID_ARGUMENTS
        && known.members().get("errors") instanceof List<?> errors) {
      return Future.succeededFuture(ToolErrors.of(known.getMessage(), errors));
    }
    return Future.failedFuture(failure);
  }

  private static BridgeException givenUp() {
    return new BridgeException(ErrorCode.CANCELLED, "The client has given the request up");
  }
}
