package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.CatalogueCache;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.call.ToolLocation;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.profile.Selection;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The profiles, and the REST door of each: lists with the names and definitions that the profile
 * gives, and calls by these names. Confined to the HTTP verticle.
 */
public record ProfilesApi(
    Bus bus, AccessControl access, CatalogueCache catalogues, ToolCallsApi calls, int maxDepth) {
  private static final int TAG_DIGITS = 24;

  /** GET /profiles. */
  public void list(RoutingContext ctx) {
    JsonWriter out = new JsonWriter(1024).beginObject().name("profiles").beginArray();
    catalogues.profiles().byName().values().forEach(profile -> write(out, ctx, profile));
    Replies.json(ctx, 200, out.endArray().endObject());
  }

  /** GET /profiles/{profile}. */
  public void show(RoutingContext ctx) {
    JsonWriter out = new JsonWriter(1024);
    write(out, ctx, catalogues.profiles().get(ctx.pathParam("profile")));
    Replies.json(ctx, 200, out);
  }

  /** Those who may change the configuration also see what in it has no effect. */
  private void write(JsonWriter out, RoutingContext ctx, Profile profile) {
    Principal caller = Callers.of(ctx);
    List<ServerView> servers =
        access.all(caller).stream().filter(server -> profile.contains(server.id())).toList();
    ToolCatalogue offered = catalogues.now(caller, Selection.ofProfile(profile.name()));
    out.beginObject().member("name", profile.name());
    if (profile.instructions() != null) {
      out.member("instructions", profile.instructions());
    }
    out.name("servers").beginArray();
    servers.forEach(server -> out.value(server.id().name()));
    out.endArray().member("tools", offered.toolsByName().size());
    if (caller.may(Scope.ADMIN)) {
      out.name("problems").beginArray();
      servers.stream()
          .filter(ServerView::isDiscovered)
          .flatMap(server -> profile.problems(server.id(), server.catalogue()).stream())
          .forEach(out::value);
      out.endArray();
    }
    out.endObject();
  }

  /** GET /profiles/{profile}/tools. */
  public void tools(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    catalogues
        .of(caller, Selections.of(ctx))
        .compose(
            offered ->
                bus.request(Gate.GRADING, null).map(grading -> graded(caller, offered, grading)))
        .onSuccess(entries -> answer(ctx, "tools", entries))
        .onFailure(ctx::fail);
  }

  private List<JsonSlice> graded(Principal caller, ToolCatalogue offered, RiskGrading grading) {
    return offered.toolsByName().values().stream()
        .map(location -> listed(location, risk(caller, location, grading)))
        .toList();
  }

  private Risk risk(Principal caller, ToolLocation location, RiskGrading grading) {
    ServerView server = location.server();
    Tool tool = location.tool();
    return grading
        .grade(Target.tool(location.name()), server.risk(), tool.destructive())
        .raisedTo(access.leastRisk(caller, server.id(), tool));
  }

  private static JsonSlice listed(ToolLocation location, Risk risk) {
    JsonSlice definition = GradedTools.withoutBridgeMembers(location.entry());
    return new JsonWriter(definition.length() + 128)
        .beginObject()
        .member("server_id", location.server().id().name())
        .membersOf(definition)
        .member("risk_level", risk.level().number())
        .member("risk_reason", risk.reason().apiName())
        .endObject()
        .toSlice();
  }

  /** GET /profiles/{profile}/resources. */
  public void resources(RoutingContext ctx) {
    list(ctx, "resources", ToolCatalogue::resources);
  }

  /** GET /profiles/{profile}/resource-templates. */
  public void templates(RoutingContext ctx) {
    list(ctx, "resourceTemplates", ToolCatalogue::templates);
  }

  /** GET /profiles/{profile}/prompts. */
  public void prompts(RoutingContext ctx) {
    list(ctx, "prompts", ToolCatalogue::prompts);
  }

  private void list(
      RoutingContext ctx, String member, Function<ToolCatalogue, List<JsonSlice>> entries) {
    use(ctx, offered -> answer(ctx, member, entries.apply(offered)));
  }

  private static void answer(RoutingContext ctx, String member, List<JsonSlice> entries) {
    Sha256 digest = new Sha256();
    entries.forEach(entry -> digest.add(entry).end());
    CatalogueApi.answer(ctx, member, entries, digest.hex(TAG_DIGITS), null);
  }

  /** POST /profiles/{profile}/tools/{tool}; the body is the arguments object. */
  public void callTool(RoutingContext ctx) {
    Arguments given = Paths.arguments(ctx, maxDepth);
    use(
        ctx,
        offered -> {
          ToolLocation tool =
              offered
                  .tool(ctx.pathParam("tool"))
                  .orElseThrow(unknown(ErrorCode.TOOL_NOT_FOUND, "tool"));
          Target target = Target.tool(tool.name());
          calls.call(ctx, tool.server().id(), target, tool.arguments(given));
        });
  }

  /** GET /profiles/{profile}/resources/{uri}; the URI is one percent-encoded segment. */
  public void readResource(RoutingContext ctx) {
    use(
        ctx,
        offered -> {
          ToolCatalogue.Resource resource =
              offered
                  .resource(ctx.pathParam("uri"))
                  .orElseThrow(unknown(ErrorCode.NOT_FOUND, "resource"));
          Target target = new Target(Target.Kind.RESOURCE, resource.uri());
          calls.call(ctx, resource.server(), target, Arguments.NONE);
        });
  }

  /** POST /profiles/{profile}/prompts/{prompt}; the body is the arguments object. */
  public void getPrompt(RoutingContext ctx) {
    Arguments given = Paths.arguments(ctx, maxDepth);
    use(
        ctx,
        offered -> {
          ToolLocation prompt =
              offered
                  .prompt(ctx.pathParam("prompt"))
                  .orElseThrow(unknown(ErrorCode.NOT_FOUND, "prompt"));
          Target target = new Target(Target.Kind.PROMPT, prompt.name());
          calls.call(ctx, prompt.server().id(), target, given);
        });
  }

  private void use(RoutingContext ctx, Consumer<ToolCatalogue> handler) {
    Future<ToolCatalogue> offered = catalogues.of(Callers.of(ctx), Selections.of(ctx));
    offered
        .<Void>map(
            found -> {
              if (!ctx.response().closed()) {
                handler.accept(found);
              }
              return null;
            })
        .onFailure(ctx::fail);
  }

  private static Supplier<BridgeException> unknown(ErrorCode code, String noun) {
    return () -> new BridgeException(code, "The profile has no such " + noun);
  }
}
