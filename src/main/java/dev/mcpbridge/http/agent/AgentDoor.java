package dev.mcpbridge.http.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.agent.ModelTurn;
import dev.mcpbridge.config.AgentConfig;
import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.EventStream;
import dev.mcpbridge.http.reply.MountPoint;
import dev.mcpbridge.http.reply.Problems;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.RequestSpan;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.http.reply.StreamSlots;
import dev.mcpbridge.http.toolcall.ToolCallDoor;
import dev.mcpbridge.limit.Shares;
import dev.mcpbridge.llm.ChatModel;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonScanner;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.trace.Tracer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * POST /agent/turns: one turn of the configured model, with the tools of the caller. The client
 * keeps the conversation and makes the calls of the reply itself, so that each passes the gate as
 * its own. The requests to the model run on worker threads; all else is confined to the HTTP
 * verticle.
 */
public final class AgentDoor {
  private static final long UNTIL_WARNING = 2;

  private final Vertx vertx;
  private final AgentConfig config;
  private final Models models;
  private final ToolCallDoor tools;
  private final StreamSlots streams;
  private final Tracer tracer;
  private final Shares turns;
  private final int maxDepth;

  /** A thread for each turn, since it waits for the model; null without one. */
  private final WorkerExecutor workers;

  /**
   * What the door uses.
   *
   * @param maxDepth maximum depth of JSON in a request
   */
  public record Dependencies(
      Vertx vertx, ToolCallDoor tools, StreamSlots streams, Tracer tracer, int maxDepth) {}

  /**
   * @param config null if no model is offered
   */
  public AgentDoor(Dependencies dependencies, AgentConfig config, BooleanSupplier severalCallers) {
    this.vertx = dependencies.vertx();
    this.tools = dependencies.tools();
    this.streams = dependencies.streams();
    this.tracer = dependencies.tracer();
    this.maxDepth = dependencies.maxDepth();
    this.config = config;
    this.models = config == null ? null : new Models(config);
    int atOnce = config == null ? 0 : config.turns().atOnce();
    this.workers =
        config == null
            ? null
            : vertx.createSharedWorkerExecutor("mcp-agent", atOnce, UNTIL_WARNING, TimeUnit.HOURS);
    this.turns =
        new Shares(
            new Shares.Limit("turns of the model", "agent.turns", atOnce, 5_000), severalCallers);
  }

  /** The model that is offered to this caller; null without one. */
  public JsonSlice offered(RoutingContext ctx) {
    return config == null || !mayUse(ctx) ? null : models.description();
  }

  private boolean mayUse(RoutingContext ctx) {
    return config.turns().roles().isEmpty()
        || !Collections.disjoint(config.turns().roles(), Callers.of(ctx).roles());
  }

  /** Answers with the reply, or with a stream of its text and then the reply. */
  public void run(RoutingContext ctx) {
    if (config == null) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "No model is configured (agent)");
    }
    if (!mayUse(ctx)) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN, "The model needs one of the roles of agent.roles");
    }
    String share = Callers.share(ctx);
    turns.acquire(share);
    RunningTurn running = new RunningTurn(models, tracer);
    ctx.response().closeHandler(closed -> running.cancel());
    Buffer body = ctx.body().buffer();
    workers
        .executeBlocking(() -> read(body), false)
        .compose(turn -> reply(ctx, turn, running))
        .onComplete(done -> turns.release(share))
        .onFailure(
            failure -> {
              if (!ctx.response().closed()) {
                ctx.fail(failure);
              }
            });
  }

  /** Results are as their servers wrote them, so they may have what requests may not have. */
  private ModelTurn read(Buffer body) throws IOException {
    byte[] bytes = body == null ? new byte[0] : body.getBytes();
    try {
      JsonSlice json = JsonScanner.transit(maxDepth).document(bytes, 0, bytes.length);
      if (json.isObject()) {
        return ModelTurn.read(Json.exactTree(json));
      }
    } catch (JsonSyntaxException e) {
      throw invalid(e.getMessage());
    } catch (JsonProcessingException e) {
      throw invalid(e.getOriginalMessage());
    }
    throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body must be a JSON object");
  }

  private static BridgeException invalid(String why) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body is not valid JSON: " + why);
  }

  private Future<Void> reply(RoutingContext ctx, ModelTurn turn, RunningTurn running) {
    Format format = models.format();
    Selection selection = Selections.of(ctx);
    return tools
        .offer(Callers.of(ctx), selection, format, BridgeTools.MAX_LISTED)
        .compose(
            offer -> {
              if (ctx.response().closed()) {
                return Future.failedFuture(new BridgeException(ErrorCode.CANCELLED, "Left"));
              }
              String callsTo = callsTo(ctx, selection, offer.isLean());
              Requested requested = new Requested(turn, offer.body(), callsTo);
              return EventStream.isWanted(ctx)
                  ? stream(ctx, requested, running)
                  : run(ctx, requested, running, text -> {})
                      .<Void>map(
                          reply -> {
                            Replies.json(ctx, 200, reply, Compressed.RESULTS);
                            return null;
                          });
            });
  }

  private static String callsTo(RoutingContext ctx, Selection selection, boolean isLean) {
    return MountPoint.prefix(ctx)
        + (selection.profile() == null ? "" : "/profiles/" + selection.profile())
        + "/toolcall?format=openai-chat"
        + (isLean ? "&discovery=search" : "");
  }

  /** A turn with the tools that are offered, and where its calls are made. */
  private record Requested(ModelTurn turn, JsonSlice tools, String callsTo) {}

  private Future<Void> stream(RoutingContext ctx, Requested requested, RunningTurn running) {
    EventStream stream = streams.open(ctx, Compressed.RESULTS).onClose(running::cancel);
    TurnEvents events = new TurnEvents(vertx.getOrCreateContext(), stream::send);
    return events
        .then(run(ctx, requested, running, events))
        .<Void>map(
            reply -> {
              stream.send("turn", reply);
              stream.end();
              return null;
            })
        .recover(
            failure -> {
              stream.sendSecret("error", Problems.document(ctx, Problems.of(failure), null));
              stream.end();
              return Future.succeededFuture();
            });
  }

  private Future<JsonSlice> run(
      RoutingContext ctx,
      Requested requested,
      RunningTurn running,
      ChatModel.ModelListener listener) {
    Envelope parent = RequestSpan.envelope(ctx);
    return workers.executeBlocking(
        () ->
            running.run(requested.turn(), requested.tools(), requested.callsTo(), listener, parent),
        false);
  }
}
