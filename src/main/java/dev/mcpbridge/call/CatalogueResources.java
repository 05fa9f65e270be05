package dev.mcpbridge.call;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.PercentEncoding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The resources and templates of a {@link ToolCatalogue}. A resource keeps its URI; if an earlier
 * server has the same URI, the server is added as a prefix. Immutable.
 */
final class CatalogueResources {
  private final List<ServerView> servers;
  private final boolean qualified;
  private final Profile profile;
  private final CatalogueResources whole;
  private final Map<String, ToolLocation> resources = new LinkedHashMap<>();
  private final Map<String, ToolLocation> templates = new LinkedHashMap<>();

  /**
   * @param profile null without one
   * @param whole those that are not listed, too; null for these themselves
   */
  CatalogueResources(
      List<ServerView> servers, boolean qualified, Profile profile, CatalogueResources whole) {
    this.servers = servers;
    this.qualified = qualified;
    this.profile = profile;
    this.whole = whole;
    for (ServerView server : servers) {
      Catalogue catalogue = server.catalogue();
      catalogue.resources().forEach(entry -> put(resources, server, "uri", entry));
      catalogue.templates().forEach(entry -> put(templates, server, "uriTemplate", entry));
    }
  }

  List<JsonSlice> resources() {
    return ToolCatalogue.entries(resources);
  }

  List<JsonSlice> templates() {
    return ToolCatalogue.entries(templates);
  }

  /**
   * Resolves a URI. An unlisted resource may exist: a single server decides that itself; among
   * several it belongs to the first one with a template whose literal prefix matches.
   */
  Optional<ToolCatalogue.Resource> find(String uri) {
    return Optional.ofNullable(resources.get(uri))
        .map(CatalogueResources::resource)
        .or(() -> qualifiedResource(uri))
        .or(() -> unlisted(uri))
        .or(() -> ofTemplate(uri))
        .filter(resource -> isOffered(resource, uri));
  }

  /** The resource of a URI that is listed; null without one. */
  ToolLocation listed(String uri) {
    return resources.get(uri);
  }

  private static ToolCatalogue.Resource resource(ToolLocation location) {
    return new ToolCatalogue.Resource(location.server().id(), location.name());
  }

  /** A URI with a server prefix always belongs to that server. */
  private Optional<ToolCatalogue.Resource> qualifiedResource(String uri) {
    return servers.stream()
        .filter(server -> qualified && uri.startsWith(prefix(server)))
        .map(
            server ->
                new ToolCatalogue.Resource(server.id(), uri.substring(prefix(server).length())))
        .findFirst();
  }

  private Optional<ToolCatalogue.Resource> unlisted(String uri) {
    return Optional.ofNullable(whole == null ? null : whole.resources.get(uri))
        .filter(
            location -> servers.stream().anyMatch(each -> each.id().equals(location.server().id())))
        .map(CatalogueResources::resource);
  }

  private Optional<ToolCatalogue.Resource> ofTemplate(String uri) {
    return servers.stream()
        .filter(server -> servers.size() == 1 || hasTemplateFor(server.catalogue(), uri))
        .map(server -> new ToolCatalogue.Resource(server.id(), uri))
        .findFirst();
  }

  private static boolean hasTemplateFor(Catalogue catalogue, String uri) {
    return catalogue.templates().stream()
        .map(template -> ToolCatalogue.text(template, "uriTemplate"))
        .map(template -> template.substring(0, (template + "{").indexOf('{')))
        .anyMatch(start -> !start.isEmpty() && uri.startsWith(start));
  }

  /** A profile also decides about what is not listed. */
  private boolean isOffered(ToolCatalogue.Resource resource, String uri) {
    ToolLocation template = templates.get(uri);
    boolean isTemplate =
        template != null
            && template.server().id().equals(resource.server())
            && template.name().equals(resource.uri());
    return profile == null
        || isTemplate
        || profile.offersResource(resource.server(), resource.uri());
  }

  private static void put(
      Map<String, ToolLocation> locations, ServerView server, String member, JsonSlice entry) {
    String uri = ToolCatalogue.text(entry, member);
    ToolLocation existing = locations.putIfAbsent(uri, new ToolLocation(server, uri, entry));
    if (existing != null && existing.server() != server && !uri.isEmpty()) {
      String qualifiedUri = prefix(server) + uri;
      JsonSlice own = JsonObjects.members(entry).get(member);
      JsonSlice moved = JsonObjects.replaceValue(entry, own, JsonObjects.quoted(qualifiedUri));
      locations.putIfAbsent(qualifiedUri, new ToolLocation(server, uri, moved));
    }
  }

  /** Followed by the URI as its server writes it, which may also be a template. */
  private static String prefix(ServerView server) {
    return "mcp-bridge://" + PercentEncoding.encoded(server.id().name()) + "/";
  }
}
