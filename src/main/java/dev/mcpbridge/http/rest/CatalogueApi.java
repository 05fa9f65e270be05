package dev.mcpbridge.http.rest;

import dev.mcpbridge.call.Directory;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ExecutionEnvironment;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** What servers offer: lists with entity tags and pages, each entry as its server wrote it. */
public final class CatalogueApi {
  private final Directory directory;

  public CatalogueApi(Directory directory) {
    this.directory = directory;
  }

  /** GET /servers/{server}/tools. */
  public void tools(RoutingContext ctx) {
    list(ctx, "tools", c -> c.tools().values().stream().map(Tool::definition).toList());
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

  /** GET /tools: those of every server that is known already; {@code ?q=} wants all its words. */
  public void search(RoutingContext ctx) {
    String query = Queries.one(ctx, "q");
    String[] words = query == null ? new String[0] : query.toLowerCase(Locale.ROOT).split("\\s+");
    List<JsonSlice> found = new ArrayList<>();
    int digest = 0;
    for (ServerView server : directory.all()) {
      if (server.isDiscovered()) {
        digest = 31 * digest + server.id().hashCode();
        digest = 31 * digest + server.catalogue().digest().hashCode();
        server.catalogue().tools().values().stream()
            .filter(tool -> matches(tool, words))
            .forEach(tool -> found.add(withServer(server, tool)));
      }
    }
    String tag = Integer.toHexString(31 * digest + String.join(" ", words).hashCode());
    answer(ctx, "tools", found, tag, null);
  }

  private void list(
      RoutingContext ctx, String member, Function<Catalogue, List<JsonSlice>> entries) {
    directory
        .discovered(Paths.server(ctx))
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

  /** Where the calls of a server at level 3 run, as the original says with its lists too. */
  private static ExecutionEnvironment environment(ServerView server) {
    return server.risk().server() == RiskLevel.HIGH
        ? new ExecutionEnvironment(server.image(), null, null)
        : null;
  }

  private static void answer(
      RoutingContext ctx,
      String member,
      List<JsonSlice> entries,
      String digest,
      ExecutionEnvironment environment) {
    JsonWriter out = new JsonWriter(4096).beginObject();
    try {
      Page.of(ctx, digest).write(out, member, entries, digest);
      if (environment != null) {
        environment.write(out);
      }
      Replies.tagged(ctx, digest, out.endObject());
    } catch (RuntimeException e) {
      ctx.fail(e);
    }
  }

  private static JsonSlice withServer(ServerView server, Tool tool) {
    return new JsonWriter(tool.definition().length() + 64)
        .beginObject()
        .member("server_id", server.id().name())
        .membersOf(tool.definition())
        .endObject()
        .toSlice();
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
