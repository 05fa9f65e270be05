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

/**
 * What one door offers, and where each name leads: one server with its names untouched, or several
 * together with qualified names (see {@link QualifiedNames}). A resource keeps its URI, unless a
 * server before has one that is the same: then its server is put in front. Entries keep every byte
 * but the name or the URI. Immutable; a changed catalogue makes another.
 */
public final class ToolCatalogue {
  private final List<ServerView> servers;
  private final boolean qualified;
  private final ToolCatalogue whole;
  private final Map<String, ToolLocation> tools = new LinkedHashMap<>();
  private final Map<String, List<String>> toolsByOwnName = new HashMap<>();
  private final Map<String, ToolLocation> prompts = new LinkedHashMap<>();
  private final Map<String, ToolLocation> resources = new LinkedHashMap<>();
  private final Map<String, ToolLocation> templates = new LinkedHashMap<>();

  /**
   * Where something is.
   *
   * @param name its server's name for it
   * @param entry as it is listed here
   * @param mirrors whether it wants arguments mirrored in headers
   */
  public record ToolLocation(ServerView server, String name, JsonSlice entry, boolean mirrors) {
    private static final String ANNOTATION = "x-mcp-header";

    ToolLocation(ServerView server, String name, JsonSlice entry) {
      this(server, name, entry, entry.text().contains(ANNOTATION));
    }
  }

  /**
   * A resource, be it listed or not.
   *
   * @param uri its server's URI for it
   */
  public record Resource(ServerId server, String uri) {}

  private ToolCatalogue(List<ServerView> servers, boolean qualified) {
    this.servers = servers;
    this.qualified = qualified;
    this.whole = null;
    servers.forEach(this::add);
  }

  private ToolCatalogue(ToolCatalogue whole) {
    this.servers = whole.servers;
    this.qualified = whole.qualified;
    this.whole = whole;
    prompts.putAll(whole.prompts);
    resources.putAll(whole.resources);
    templates.putAll(whole.templates);
  }

  /** The same with three tools that find, describe and call the others. */
  public ToolCatalogue lean() {
    return new ToolCatalogue(this);
  }

  /** What a lean offer leads to; empty for one that lists its tools. */
  public Optional<ToolCatalogue> whole() {
    return Optional.ofNullable(whole);
  }

  /** One discovered server. */
  public static ToolCatalogue of(ServerView server) {
    return new ToolCatalogue(List.of(server), false);
  }

  /** All that are discovered, in the order of their names. */
  public static ToolCatalogue ofAll(Collection<ServerView> servers) {
    return new ToolCatalogue(
        servers.stream()
            .filter(ServerView::isDiscovered)
            .sorted(Comparator.comparing(server -> server.id().name()))
            .toList(),
        true);
  }

  public List<ServerView> servers() {
    return servers;
  }

  /** Whether names say which server they belong to. */
  public boolean isQualified() {
    return qualified;
  }

  public List<JsonSlice> tools() {
    return whole == null
        ? entries(tools)
        : LeanDiscovery.TOOLS.stream().map(Tool::definition).toList();
  }

  /** The tools by the names that they have here. */
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

  public Optional<ToolLocation> tool(String name) {
    return Optional.ofNullable(tools.get(name));
  }

  /** The names here of all tools that their servers call so. */
  public List<String> namesOf(String ownName) {
    return toolsByOwnName.getOrDefault(ownName, List.of());
  }

  public Optional<ToolLocation> prompt(String name) {
    return Optional.ofNullable(prompts.get(name));
  }

  /**
   * What a URI means here. One that nobody lists may still exist: with one server it is that one's
   * to say, with several it belongs to the one whose template begins like it.
   */
  public Optional<Resource> resource(String uri) {
    ToolLocation listed = resources.get(uri);
    if (listed != null) {
      return Optional.of(new Resource(listed.server().id(), listed.name()));
    }
    return qualifiedResource(uri)
        .or(
            () ->
                servers.stream()
                    .filter(
                        server -> servers.size() == 1 || hasTemplateFor(server.catalogue(), uri))
                    .map(server -> new Resource(server.id(), uri))
                    .findFirst());
  }

  /** A URI with its server in front is that server's, whether another one has the same or not. */
  private Optional<Resource> qualifiedResource(String uri) {
    return servers.stream()
        .filter(server -> qualified && uri.startsWith(prefix(server)))
        .map(server -> new Resource(server.id(), uri.substring(prefix(server).length())))
        .findFirst();
  }

  /** Another one whenever anything in it is another. */
  public String digest() {
    StringBuilder digests = new StringBuilder();
    servers.forEach(server -> digests.append(server.catalogue().digest()));
    return Integer.toHexString(digests.toString().hashCode());
  }

  /** Whether the changes of any server's resources can be listened for. */
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
              String shown = put(tools, server, tool.name(), tool.definition());
              toolsByOwnName.computeIfAbsent(tool.name(), n -> new ArrayList<>(1)).add(shown);
            });
    catalogue.prompts().forEach(prompt -> put(prompts, server, name(prompt), prompt));
    catalogue.resources().forEach(entry -> putResource(resources, server, "uri", entry));
    catalogue.templates().forEach(entry -> putResource(templates, server, "uriTemplate", entry));
  }

  private static void putResource(
      Map<String, ToolLocation> places, ServerView server, String member, JsonSlice entry) {
    String uri = text(entry, member);
    ToolLocation taken = places.putIfAbsent(uri, new ToolLocation(server, uri, entry));
    if (taken != null && taken.server() != server && !uri.isEmpty()) {
      String shown = prefix(server) + uri;
      JsonSlice own = JsonObjects.members(entry).get(member);
      JsonSlice moved = JsonObjects.inPlace(entry, own, JsonObjects.quoted(shown));
      places.putIfAbsent(shown, new ToolLocation(server, uri, moved));
    }
  }

  /** It is followed by the URI as its server writes it, which a template may be, too. */
  private static String prefix(ServerView server) {
    return "mcp-bridge://" + PercentEncoding.encoded(server.id().name()) + "/";
  }

  /** Answers the name that it has here. */
  private String put(
      Map<String, ToolLocation> places, ServerView server, String name, JsonSlice entry) {
    if (!qualified) {
      places.putIfAbsent(name, new ToolLocation(server, name, entry));
      return name;
    }
    String shown = QualifiedNames.of(server.id(), name);
    JsonSlice own = JsonObjects.members(entry).get("name");
    JsonSlice renamed = JsonObjects.inPlace(entry, own, JsonObjects.quoted(shown));
    places.putIfAbsent(shown, new ToolLocation(server, name, renamed));
    return shown;
  }

  private static boolean hasTemplateFor(Catalogue catalogue, String uri) {
    return catalogue.templates().stream()
        .map(template -> text(template, "uriTemplate"))
        .map(template -> template.substring(0, (template + "{").indexOf('{')))
        .anyMatch(start -> !start.isEmpty() && uri.startsWith(start));
  }

  private static List<JsonSlice> entries(Map<String, ToolLocation> places) {
    return places.values().stream().map(ToolLocation::entry).toList();
  }

  private static String name(JsonSlice entry) {
    return text(entry, "name");
  }

  private static String text(JsonSlice entry, String member) {
    String text = JsonObjects.string(JsonObjects.members(entry).get(member));
    return text == null ? "" : text;
  }
}
