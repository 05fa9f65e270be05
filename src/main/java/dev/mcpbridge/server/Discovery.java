package dev.mcpbridge.server;

import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.protocol.BridgeIdentity;
import dev.mcpbridge.protocol.BridgePath;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.session.Negotiated;
import dev.mcpbridge.session.Pages;
import dev.mcpbridge.session.Session;
import io.vertx.core.Future;
import java.util.List;

/** Reads all lists of a server concurrently, each over all its pages. */
final class Discovery {
  private final Session session;
  private final Negotiated negotiated;
  private final BridgeIdentity self;
  private final ServerConfig config;
  private final long deadlineNanos;
  private JsonSlice omitted;

  private Discovery(
      Session session,
      Negotiated negotiated,
      BridgeIdentity self,
      ServerConfig config,
      long deadlineNanos) {
    this.config = config;
    this.session = session;
    this.negotiated = negotiated;
    this.self = self;
    this.deadlineNanos = deadlineNanos;
  }

  /**
   * @param self the identity of this bridge; entries that lead back to it are left out
   * @param config decides about invisible characters and blocked tools
   * @param deadlineNanos for all lists together, by {@link System#nanoTime}
   */
  static Future<Catalogue> of(
      Session session,
      Negotiated negotiated,
      BridgeIdentity self,
      ServerConfig config,
      long deadlineNanos) {
    return new Discovery(session, negotiated, self, config, deadlineNanos).readAll();
  }

  private Future<Catalogue> readAll() {
    Future<List<JsonSlice>> tools = list("tools", McpMethod.TOOLS_LIST, "tools");
    Future<List<JsonSlice>> resources = list("resources", McpMethod.RESOURCES_LIST, "resources");
    Future<List<JsonSlice>> templates =
        list("resources", McpMethod.TEMPLATES_LIST, "resourceTemplates");
    Future<List<JsonSlice>> prompts = list("prompts", McpMethod.PROMPTS_LIST, "prompts");
    return Future.all(tools, resources, templates, prompts)
        .map(
            all ->
                CatalogueReader.read(
                    new CatalogueReader.Lists(
                        tools.result(),
                        resources.result(),
                        templates.result(),
                        prompts.result(),
                        omitted),
                    config.sessionSettings().removesHiddenCharacters()))
        .map(config.risk()::offered);
  }

  private Future<List<JsonSlice>> list(String capability, String method, String member) {
    if (!negotiated.hasCapability(capability)) {
      return Future.succeededFuture(List.of());
    }
    return Pages.all(session, method, member, deadlineNanos)
        .map(this::withPath)
        .recover(Discovery::emptyIfUnsupported);
  }

  /** A bridge repeats its id with its lists, since a different one may answer after a restart. */
  private List<JsonSlice> withPath(Pages.CompleteList completeList) {
    omitted = completeList.omitted() == null ? omitted : completeList.omitted();
    String bridge = completeList.bridge() == null ? negotiated.bridge() : completeList.bridge();
    return bridge == null
        ? completeList.entries()
        : BridgePath.over(bridge, self.id(), completeList.entries());
  }

  /** A server may declare a capability and not implement every list that belongs to it. */
  private static Future<List<JsonSlice>> emptyIfUnsupported(Throwable failure) {
    boolean isUnsupported = failure instanceof BridgeException e && e.code() == ErrorCode.NOT_FOUND;
    return isUnsupported ? Future.succeededFuture(List.of()) : Future.failedFuture(failure);
  }
}
