package dev.mcpbridge.call;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.PercentEncoding;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The catalogue of one door, and the server behind each name: one server with its own names, or
 * several servers with qualified names (see {@link QualifiedNames}). A resource keeps its URI; if
 * an earlier server has the same URI, the server is added as a prefix. Entries are unchanged except
 * for the name or the URI. Immutable; a changed catalogue is a new object.
 */
public final class ToolCatalogue {
  private final List<ServerView> servers;
  private final boolean qualified;
  private final ToolCatalogue full;
  private final ToolCatalogue whole;
  private final Map<String, ToolLocation> tools = new LinkedHashMap<>();
  private final Map<String, List<String>> toolsByOwnName = new HashMap<>();
  private final Map<String, ToolLocation> prompts = new LinkedHashMap<>();
  private final Map<String, ToolLocation> resources = new LinkedHashMap<>();
  private final Map<String, ToolLocation> templates = new LinkedHashMap<>();

  /**
   * An entry and its server.
   *
   * @param name the server's own name of it
   * @param entry the entry as listed by this catalogue
   * @param mirrorsHeaders whether it declares arguments to be mirrored in headers
   */
  public record ToolLocation(
      ServerView server, String name, JsonSlice entry, boolean mirrorsHeaders) {
    private static final String ANNOTATION = "x-mcp-header";

    ToolLocation(ServerView server, String name, JsonSlice entry) {
      this(server, name, entry, entry.text().contains(ANNOTATION));
    }

    /** The tool of this name. */
    public Tool tool() {
      return server.catalogue().tools().get(name);
    }
  }

  /**
   * A resource, listed or not.
   *
   * @param uri the server's own URI of it
   */
  public record Resource(ServerId server, String uri) {}

  private ToolCatalogue(List<ServerView> servers, boolean qualified, ToolCatalogue whole) {
    this.servers = servers;
    this.qualified = qualified;
    this.full = null;
    this.whole = whole;
    servers.forEach(this::add);
  }

  private ToolCatalogue(ToolCatalogue full) {
    this.servers = full.servers;
    this.qualified = full.qualified;
    this.full = full;
    this.whole = full.whole;
    prompts.putAll(full.prompts);
    resources.putAll(full.resources);
    templates.putAll(full.templates);
  }

  /** The same catalogue with three tools that search, describe and call the others. */
  public ToolCatalogue lean() {
    return new ToolCatalogue(this);
  }

  /**
   * The same catalogue, which also resolves names that it does not list, so that their use is
   * refused and not unknown.
   *
   * @param everything the catalogue with the entries that are not listed
   */
  ToolCatalogue within(ToolCatalogue everything) {
    return new ToolCatalogue(servers, qualified, everything);
  }

  /** The full catalogue of a lean one; empty if this one lists its tools itself. */
  public Optional<ToolCatalogue> full() {
    return Optional.ofNullable(full);
  }

  /** The catalogue of one discovered server. */
  public static ToolCatalogue of(ServerView server) {
    return new ToolCatalogue(List.of(server), false, null);
  }

  /** The catalogue of all discovered servers, sorted by their names. */
  public static ToolCatalogue ofAll(Collection<ServerView> servers) {
    return new ToolCatalogue(
        servers.stream()
            .filter(ServerView::isDiscovered)
            .sorted(Comparator.comparing(server -> server.id().name()))
            .toList(),
        true,
        null);
  }

  public List<ServerView> servers() {
    return servers;
  }

  /** Whether names include their server. */
  public boolean isQualified() {
    return qualified;
  }

  public List<JsonSlice> tools() {
    return full == null
        ? entries(tools)
        : LeanDiscovery.TOOLS.stream().map(Tool::definition).toList();
  }

  /** The tools by their names in this catalogue. */
  public Map<String, ToolLocation> toolsByName() {
    return Collections.unmodifiableMap(tools);
  }

  public List<JsonSlice> prompts() {
    return entries(prompts);
  }

  public List<JsonSlice> resources() {
    return entries(resources);
  }

  public List<JsonSlice> templates() {
    return entries(templates);
  }

  /** The tool of a name, listed or not. */
  public Optional<ToolLocation> tool(String name) {
    return Optional.ofNullable(tools.get(name)).or(() -> unlisted(all -> all.tools.get(name)));
  }

  /** An entry of a server of this catalogue that it does not list. */
  private Optional<ToolLocation> unlisted(Function<ToolCatalogue, ToolLocation> find) {
    return Optional.ofNullable(whole).map(find).filter(location -> offers(location.server().id()));
  }

  private boolean offers(ServerId id) {
    return servers.stream().anyMatch(server -> server.id().equals(id));
  }

  /** The names in this catalogue of all tools with this name at their server. */
  public List<String> namesOf(String ownName) {
    return toolsByOwnName.getOrDefault(ownName, List.of());
  }

  /** The prompt of a name, listed or not. */
  public Optional<ToolLocation> prompt(String name) {
    return Optional.ofNullable(prompts.get(name)).or(() -> unlisted(all -> all.prompts.get(name)));
  }

  /**
   * Resolves a URI. An unlisted resource may exist: a single server decides that itself; among
   * several it belongs to the first one with a template whose literal prefix matches.
   */
  public Optional<Resource> resource(String uri) {
    ToolLocation listed = resources.get(uri);
    if (listed != null) {
      return Optional.of(new Resource(listed.server().id(), listed.name()));
    }
    return qualifiedResource(uri)
        .or(
            () ->
                unlisted(all -> all.resources.get(uri))
                    .map(location -> new Resource(location.server().id(), location.name())))
        .or(
            () ->
                servers.stream()
                    .filter(
                        server -> servers.size() == 1 || hasTemplateFor(server.catalogue(), uri))
                    .map(server -> new Resource(server.id(), uri))
                    .findFirst());
  }

  /** A URI with a server prefix always belongs to that server. */
  private Optional<Resource> qualifiedResource(String uri) {
    return servers.stream()
        .filter(server -> qualified && uri.startsWith(prefix(server)))
        .map(server -> new Resource(server.id(), uri.substring(prefix(server).length())))
        .findFirst();
  }

  /** Changes whenever an entry changes. */
  public String digest() {
    StringBuilder digests = new StringBuilder();
    servers.forEach(server -> digests.append(server.catalogue().digest()));
    return Integer.toHexString(digests.toString().hashCode());
  }

  /** Whether any server supports resource subscriptions. */
  public boolean subscribes() {
    return servers.stream()
        .map(server -> JsonObjects.members(server.identity().capabilities()).get("resources"))
        .anyMatch(
            resources ->
                resources != null
                    && JsonSlice.of("true")
                        .equals(JsonObjects.members(resources).get("subscribe")));
  }

  /** Whether any server declares the capability. */
  public boolean declares(String capability) {
    return servers.stream().anyMatch(server -> server.identity().declares(capability));
  }

  private void add(ServerView server) {
    Catalogue catalogue = server.catalogue();
    catalogue
        .tools()
        .values()
        .forEach(
            tool -> {
              String listedName = put(tools, server, tool.name(), tool.definition());
              toolsByOwnName.computeIfAbsent(tool.name(), n -> new ArrayList<>(1)).add(listedName);
            });
    catalogue.prompts().forEach(prompt -> put(prompts, server, text(prompt, "name"), prompt));
    catalogue.resources().forEach(entry -> putResource(resources, server, "uri", entry));
    catalogue.templates().forEach(entry -> putResource(templates, server, "uriTemplate", entry));
  }

  private static void putResource(
      Map<String, ToolLocation> locations, ServerView server, String member, JsonSlice entry) {
    String uri = text(entry, member);
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

  /** Returns the name in this catalogue. */
  private String put(
      Map<String, ToolLocation> locations, ServerView server, String name, JsonSlice entry) {
    if (!qualified) {
      locations.putIfAbsent(name, new ToolLocation(server, name, entry));
      return name;
    }
    String qualifiedName = QualifiedNames.of(server.id(), name);
    JsonSlice own = JsonObjects.members(entry).get("name");
    JsonSlice renamed = JsonObjects.replaceValue(entry, own, JsonObjects.quoted(qualifiedName));
    locations.putIfAbsent(qualifiedName, new ToolLocation(server, name, renamed));
    return qualifiedName;
  }

  private static boolean hasTemplateFor(Catalogue catalogue, String uri) {
    return catalogue.templates().stream()
        .map(template -> text(template, "uriTemplate"))
        .map(template -> template.substring(0, (template + "{").indexOf('{')))
        .anyMatch(start -> !start.isEmpty() && uri.startsWith(start));
  }

  private static List<JsonSlice> entries(Map<String, ToolLocation> locations) {
    return locations.values().stream().map(ToolLocation::entry).toList();
  }

  private static String text(JsonSlice entry, String member) {
    String text = JsonObjects.string(JsonObjects.members(entry).get(member));
    return text == null ? "" : text;
  }
}
