package dev.mcpbridge.http.rest;

import dev.mcpbridge.access.Rights;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.ArgumentValidator;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.PagedList;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ExecutionEnvironment;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition;
import dev.mcpbridge.pins.Judgement;
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.pins.ServerJudgement;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * The catalogues of servers: lists with entity tags and pages. Entries are passed on unchanged;
 * tools also have their risk level. Confined to the HTTP verticle.
 */
public final class CatalogueApi {
  private static final int MAX_GRADED = 1_000;

  private final Bus bus;
  private final AccessControl access;
  private final Pins pins;
  private final ArgumentValidator schemas;
  private final Map<GradedKey, GradedTools> graded = new BoundedMap<>(MAX_GRADED);

  /** Callers with the same rights share them. */
  private record GradedKey(ServerId server, String catalogue, Rights rights) {}

  public CatalogueApi(Bus bus, AccessControl access, Pins pins, ArgumentValidator schemas) {
    this.bus = bus;
    this.pins = pins;
    this.schemas = schemas;
    this.access = access;
  }

  /** GET /servers/{server}/tools. */
  public void tools(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    access
        .discovered(caller, Paths.server(ctx))
        .compose(
            server ->
                Future.all(bus.request(Gate.GRADING, null), schemas.unusable(server))
                    .onSuccess(
                        all ->
                            answer(
                                ctx,
                                server,
                                graded(caller, server, all.resultAt(0), all.resultAt(1)))))
        .onFailure(ctx::fail);
  }

  /** GET /servers/{server}/resources. */
  public void resources(RoutingContext ctx) {
    list(ctx, "resources", Catalogue::resources);
  }

  /** GET /servers/{server}/resource-templates. */
  public void templates(RoutingContext ctx) {
    list(ctx, "resourceTemplates", Catalogue::templates);
  }

  /** GET /servers/{server}/prompts. */
  public void prompts(RoutingContext ctx) {
    list(ctx, "prompts", Catalogue::prompts);
  }

  /** GET /tools: the tools of all discovered servers; {@code ?q=} requires all its words. */
  public void search(RoutingContext ctx) {
    String query = Queries.single(ctx, "q");
    String[] words = query == null ? new String[0] : query.toLowerCase(Locale.ROOT).split("\\s+");
    bus.request(Gate.GRADING, null)
        .onSuccess(grading -> answerFound(ctx, words, grading))
        .onFailure(ctx::fail);
  }

  private void answerFound(RoutingContext ctx, String[] words, RiskGrading grading) {
    List<JsonSlice> found = new ArrayList<>();
    int digest = 0;
    Principal caller = Callers.of(ctx);
    for (ServerView server : access.all(caller)) {
      if (server.isDiscovered()) {
        GradedTools tools = graded(caller, server, grading, schemas.knownUnusable(server));
        digest = 31 * digest + server.id().hashCode();
        digest = 31 * digest + tools.tag().hashCode();
        tools.tools().stream()
            .filter(each -> matches(each.tool(), words))
            .forEach(each -> found.add(each.listed(server.id().name())));
      }
    }
    String tag = Integer.toHexString(31 * digest + String.join(" ", words).hashCode());
    answer(ctx, "tools", found, tag, null);
  }

  /** The graded tools of a server, cached until the catalogue or the grading changes. */
  private GradedTools graded(
      Principal caller, ServerView server, RiskGrading grading, Map<String, String> unusable) {
    GradedKey key = new GradedKey(server.id(), server.catalogue().digest(), access.rights(caller));
    GradedTools cached = graded.get(key);
    Map<Definition.Name, Judgement> judgements =
        pins.known(server.id()).map(ServerJudgement::all).orElse(Map.of());
    if (cached == null || !cached.isOf(server, grading, judgements, unusable)) {
      cached =
          GradedTools.of(
              server,
              grading,
              judgements,
              unusable,
              tool -> access.leastRisk(caller, server.id(), tool));
      graded.put(key, cached);
    }
    return cached;
  }

  private static void answer(RoutingContext ctx, ServerView server, GradedTools graded) {
    List<JsonSlice> entries = graded.tools().stream().map(each -> each.listed(null)).toList();
    answer(ctx, "tools", entries, graded.tag(), environment(server));
  }

  private void list(
      RoutingContext ctx, String member, Function<Catalogue, List<JsonSlice>> entries) {
    access
        .discovered(Callers.of(ctx), Paths.server(ctx))
        .onSuccess(
            server ->
                answer(
                    ctx,
                    member,
                    entries.apply(server.catalogue()),
                    server.catalogue().digest(),
                    environment(server)))
        .onFailure(ctx::fail);
  }

  /** The environment of a server at level 3, as in the lists of the original; null otherwise. */
  private static ExecutionEnvironment environment(ServerView server) {
    return server.risk().server() == RiskLevel.HIGH
        ? new ExecutionEnvironment(server.image(), null, null)
        : null;
  }

  static void answer(
      RoutingContext ctx,
      String member,
      List<JsonSlice> entries,
      String digest,
      ExecutionEnvironment environment) {
    JsonWriter out = new JsonWriter(4096).beginObject();
    try {
      new PagedList(member, entries, digest).write(out, ctx);
      if (environment != null) {
        environment.write(out);
      }
      Replies.tagged(ctx, digest, out.endObject());
    } catch (RuntimeException e) {
      ctx.fail(e);
    }
  }

  private static boolean matches(Tool tool, String[] words) {
    String text =
        (tool.name() + ' ' + tool.title() + ' ' + tool.description()).toLowerCase(Locale.ROOT);
    for (String word : words) {
      if (!text.contains(word)) {
        return false;
      }
    }
    return true;
  }
}
