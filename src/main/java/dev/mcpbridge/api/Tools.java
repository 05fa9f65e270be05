package dev.mcpbridge.api;

import dev.mcpbridge.bus.EventLoop;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.call.CallOutcome;
import dev.mcpbridge.call.CallRequest;
import dev.mcpbridge.call.InProcess;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.config.LimitsConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.Arguments;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * The tools that one caller may list and call. Thread-safe. Futures complete on the context of
 * Vert.x that called, or else on the event loop of the bridge, which must not be blocked.
 *
 * <p>Arguments are JSON objects as text. What ends a call is an {@link Outcome}, also if it fails.
 */
public final class Tools {
  private final InProcess bridge;
  private final EventLoop loop;
  private final LimitsConfig limits;
  private final Selection selection;
  private final dev.mcpbridge.model.Caller caller;

  Tools(InProcess bridge, LimitsConfig limits, Caller caller) {
    this(bridge, limits, new Selection(null, null), modelled(caller));
  }

  private Tools(
      InProcess bridge,
      LimitsConfig limits,
      Selection selection,
      dev.mcpbridge.model.Caller caller) {
    this.bridge = bridge;
    this.loop = bridge.bus().loop();
    this.limits = limits;
    this.selection = selection;
    this.caller = caller;
  }

  private static dev.mcpbridge.model.Caller modelled(Caller caller) {
    return dev.mcpbridge.model.Caller.of(caller.principal()).withOrigin(Caller.PROGRAM, null);
  }

  /** The tools of a profile of the configuration, under the names and with the schemas there. */
  public Tools inProfile(String profile) {
    return new Tools(bridge, limits, new Selection(null, profile), caller);
  }

  /**
   * The tools of all servers, or of the profile. Waits at most five seconds for servers that are
   * starting.
   *
   * @return fails with a {@link BridgeFailure}, such as {@code profile_not_found}
   */
  public Future<List<Tool>> list() {
    return loop.call(this::catalogue)
        .map(
            catalogue ->
                catalogue.toolsByName().entrySet().stream()
                    .map(each -> Tool.of(each.getKey(), each.getValue()))
                    .toList())
        .recover(failure -> Future.failedFuture(BridgeFailure.of(failure)));
  }

  private Future<ToolCatalogue> catalogue() {
    return bridge.catalogues().of(caller.principal(), selection);
  }

  /** Calls a tool by its name in {@link #list}. */
  public Future<Outcome> call(String name, String arguments) {
    return begin(name, arguments).outcome();
  }

  /**
   * Calls a tool of a server. Waits for the start of the server, within the time limit of the call.
   *
   * @param tool its name at the server
   */
  public Future<Outcome> call(String server, String tool, String arguments) {
    return begin(server, tool, arguments).outcome();
  }

  /**
   * Calls a tool by its name in {@link #list}, and blocks until its outcome is known: for agents
   * that have a thread of their own. An interrupt cancels the call.
   *
   * @throws IllegalStateException on an event loop
   */
  public Outcome callAndWait(String name, String arguments) {
    return beginAwaited(name, arguments).awaitUnlessInterrupted();
  }

  AwaitedCall beginAwaited(String name, String arguments) {
    return new AwaitedCall(loop, () -> begin(name, arguments));
  }

  AwaitedCall beginAwaitedDecision(Outcome.ConfirmationRequired held, boolean isApproved) {
    return new AwaitedCall(loop, () -> beginDecision(held.id(), held.token(), isApproved));
  }

  /**
   * As {@link #list}, but blocks.
   *
   * @throws BridgeFailure as {@link #list} fails
   * @throws IllegalStateException on an event loop
   */
  public List<Tool> listAndWait() {
    CompletableFuture<List<Tool>> tools = new CompletableFuture<>();
    requireBlockable();
    loop.run(() -> list().onComplete(tools::complete, tools::completeExceptionally));
    try {
      return tools.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BridgeFailure(new BridgeException(ErrorCode.CANCELLED, "Interrupted"));
    } catch (ExecutionException e) {
      throw e.getCause() instanceof BridgeFailure known
          ? known
          : new IllegalStateException(e.getCause());
    }
  }

  /**
   * @throws IllegalStateException on an event loop
   */
  static void requireBlockable() {
    if (Context.isOnEventLoopThread()) {
      throw new IllegalStateException("An event loop must not be blocked: use list and call");
    }
  }

  /** Begins a call of a tool by its name in {@link #list}. */
  public ToolCall begin(String name, String arguments) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(arguments, "arguments");
    RunningCall call = new RunningCall();
    call.outcome =
        ended(
            () ->
                catalogue()
                    .map(all -> all.tool(name).orElseThrow(() -> unknown(name)))
                    .compose(
                        tool ->
                            call.run(
                                tool.server().id(),
                                tool.name(),
                                tool.arguments(arguments(arguments)))));
    return call;
  }

  /**
   * Begins a call of a tool of a server.
   *
   * @param tool its name at the server
   */
  public ToolCall begin(String server, String tool, String arguments) {
    Objects.requireNonNull(server, "server");
    Objects.requireNonNull(tool, "tool");
    Objects.requireNonNull(arguments, "arguments");
    RunningCall call = new RunningCall();
    call.outcome = ended(() -> call.run(new ServerId(server), tool, arguments(arguments)));
    return call;
  }

  /** Tells the decision of a human about a call of this caller, and runs the call if it is yes. */
  public Future<Outcome> decide(Outcome.ConfirmationRequired held, boolean isApproved) {
    return decide(held.id(), held.token(), isApproved);
  }

  /**
   * Tells the decision of an approver about a call of any caller. The outcome of the call is kept
   * for its own caller too.
   *
   * @param id of the confirmation
   */
  public Future<Outcome> decide(String id, boolean isApproved) {
    return decide(id, null, isApproved);
  }

  private Future<Outcome> decide(String id, String token, boolean isApproved) {
    return beginDecision(id, token, isApproved).outcome();
  }

  /** The call keeps the id that it got when it was held. */
  private ToolCall beginDecision(String id, String token, boolean isApproved) {
    Viewer by = new Viewer(caller.name(), caller.principal().may(Scope.APPROVE));
    RunningCall call = new RunningCall();
    call.outcome =
        loop.call(
                () ->
                    bridge
                        .bus()
                        .request(Gate.DECIDE, new HumanDecision(id, isApproved, token, by))
                        .compose(
                            approved ->
                                approved == null
                                    ? Future.<Outcome>succeededFuture(new Outcome.Rejected())
                                    : call.runApproved(approved, by).map(Outcomes::of)))
            .otherwise(Outcomes::of);
    return call;
  }

  private Future<Outcome> ended(Supplier<Future<CallOutcome>> run) {
    return loop.call(run).map(Outcomes::of).otherwise(Outcomes::of);
  }

  private Arguments arguments(String json) {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > limits.bodyBytes()) {
      throw new BridgeException(
          ErrorCode.TOO_LARGE, "The arguments have more than " + limits.bodyBytes() + " bytes");
    }
    return Arguments.read(bytes, limits.depth(), "The arguments text");
  }

  private static BridgeException unknown(String name) {
    return new BridgeException(ErrorCode.TOOL_NOT_FOUND, "Unknown tool '" + name + "'");
  }

  /** Confined to the event loop, except for its outcome. */
  private final class RunningCall implements ToolCall {
    private static final String REASON = "The program has cancelled the call";

    private Future<Outcome> outcome;
    private String id;
    private boolean isCancelled;

    Future<CallOutcome> run(ServerId server, String tool, Arguments arguments) {
      if (isCancelled) {
        return Future.failedFuture(new BridgeException(ErrorCode.CANCELLED, REASON));
      }
      id = bridge.ids().next();
      return bridge
          .pipeline()
          .run(new CallRequest(id, server, Target.tool(tool), arguments, caller, false));
    }

    Future<CallOutcome> runApproved(Confirmation approved, Viewer by) {
      if (isCancelled) {
        bridge.pipeline().abandon(approved);
        return Future.failedFuture(new BridgeException(ErrorCode.CANCELLED, REASON));
      }
      id = approved.call().id();
      return bridge.decided().run(approved, by, false);
    }

    @Override
    public Future<Outcome> outcome() {
      return outcome;
    }

    @Override
    public void cancel() {
      loop.run(
          () -> {
            isCancelled = true;
            if (id != null) {
              bridge.pipeline().cancel(id, REASON);
            }
          });
    }
  }
}
