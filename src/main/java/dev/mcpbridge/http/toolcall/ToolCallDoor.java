package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** GET /toolcall/tools and POST /toolcall, for all servers or for a profile. */
public final class ToolCallDoor {
  private final CatalogueCache catalogueCache;
  private final FunctionLists lists;
  private final ModelCalls calls;

  public ToolCallDoor(Vertx vertx, CatalogueCache catalogueCache, ModelCalls calls) {
    this.catalogueCache = catalogueCache;
    this.lists = new FunctionLists(vertx);
    this.calls = calls;
  }

  /** Lists all or selected tools as functions for a request to a model. */
  public void list(RoutingContext ctx) {
    FunctionLists.Style style =
        new FunctionLists.Style(
            format(ctx).orElse(Format.OPENAI_CHAT),
            Queries.flag(ctx, "strict"),
            Queries.isLean(ctx));
    Set<String> servers = commaSeparated(ctx, "servers");
    List<Glob> tools = commaSeparated(ctx, "tools").stream().map(Glob::new).toList();
    catalogue(ctx)
        .compose(
            toolCatalogue -> {
              rejectUnknown(servers, toolCatalogue);
              return lists.of(toolCatalogue, style);
            })
        .map(functions -> functions.listing(servers, tools))
        .onSuccess(listing -> Replies.tagged(ctx, listing.tag(), listing.body()))
        .onFailure(ctx::fail);
  }

  /**
   * Tools for a model.
   *
   * @param body as of {@code GET /toolcall/tools}
   * @param isLean whether they are those of lean discovery
   */
  public record Offer(JsonSlice body, boolean isLean) {}

  /**
   * All tools that a caller is offered; those of lean discovery if there are more than a number.
   */
  public Future<Offer> offer(Principal caller, Selection selection, Format format, int most) {
    return catalogueCache
        .of(caller, selection)
        .compose(
            whole -> {
              boolean isLean = whole.toolsByName().size() > most;
              return lists
                  .of(isLean ? whole.lean() : whole, new FunctionLists.Style(format, false, isLean))
                  .map(functions -> new Offer(functions.whole().body(), isLean));
            });
  }

  /** Runs the tool calls of a model. */
  public void run(RoutingContext ctx) {
    Optional<Format> format = format(ctx);
    catalogue(ctx)
        .map(
            toolCatalogue -> {
              if (!ctx.response().closed()) {
                calls.run(ctx, toolCatalogue, format);
              }
              return null;
            })
        .onFailure(ctx::fail);
  }

  private Future<ToolCatalogue> catalogue(RoutingContext ctx) {
    Future<ToolCatalogue> whole = catalogueCache.of(Callers.of(ctx), Selections.of(ctx));
    return Queries.isLean(ctx) ? whole.map(ToolCatalogue::lean) : whole;
  }

  private static void rejectUnknown(Set<String> servers, ToolCatalogue toolCatalogue) {
    Set<String> known =
        toolCatalogue.servers().stream().map(view -> view.id().name()).collect(Collectors.toSet());
    servers.stream()
        .filter(server -> !known.contains(server))
        .findFirst()
        .ifPresent(
            server -> {
              throw new BridgeException(
                  ErrorCode.SERVER_NOT_FOUND, "Server '" + server + "' not found or not connected");
            });
  }

  private static Optional<Format> format(RoutingContext ctx) {
    String name = Queries.single(ctx, "format");
    if (name == null) {
      return Optional.empty();
    }
    Optional<Format> format = Format.of(name);
    if (format.isEmpty()) {
      throw new BridgeException(
          ErrorCode.MALFORMED_REQUEST,
          "'format' must be one of "
              + Stream.of(Format.values()).map(Format::id).collect(Collectors.joining(", ")));
    }
    return format;
  }

  private static Set<String> commaSeparated(RoutingContext ctx, String parameter) {
    String text = Queries.single(ctx, parameter);
    return text == null
        ? Set.of()
        : Stream.of(text.split(","))
            .map(String::strip)
            .filter(element -> !element.isEmpty())
            .collect(Collectors.toSet());
  }
}
