package dev.mcpbridge.call;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.profile.ToolShape;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
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
 * several servers with qualified names (see {@link QualifiedNames}), or what a profile offers of
 * them. Entries are unchanged except for the name or the URI, and for what a profile changes.
 * Immutable; a changed catalogue is a new object.
 */
public final class ToolCatalogue {
  private final List<ServerView> servers;
  private final boolean qualified;

  /** Null without one. */
  private final Profile profile;

  private final ToolCatalogue full;
  private final ToolCatalogue whole;

  /** Whether names of the whole catalogue that are not listed are resolved. */
  private final boolean tellsOfUnlisted;

  private final Map<String, ToolLocation> tools = new LinkedHashMap<>();
  private final Map<String, List<String>> toolsByOwnName = new HashMap<>();
  private final Map<String, ToolLocation> prompts = new LinkedHashMap<>();
  private final CatalogueResources resources;

  /**
   * A resource, listed or not.
   *
   * @param uri the server's own URI of it
   */
  public record Resource(ServerId server, String uri) {}

  private ToolCatalogue(
      List<ServerView> servers,
      boolean qualified,
      Profile profile,
      ToolCatalogue whole,
      boolean tellsOfUnlisted) {
    this.servers = servers;
    this.qualified = qualified;
    this.profile = profile;
    this.full = null;
    this.whole = whole;
    this.tellsOfUnlisted = tellsOfUnlisted;
    this.resources =
        new CatalogueResources(
            servers, qualified, profile, tellsOfUnlisted ? whole.resources : null);
    servers.forEach(this::add);
  }

  private ToolCatalogue(ToolCatalogue full) {
    this.servers = full.servers;
    this.qualified = full.qualified;
    this.profile = full.profile;
    this.full = full;
    this.whole = full.whole;
    this.tellsOfUnlisted = full.tellsOfUnlisted;
    this.resources = full.resources;
    prompts.putAll(full.prompts);
  }

  /** The same catalogue with three tools that search, describe and call the others. */
  public ToolCatalogue lean() {
    return new ToolCatalogue(this);
  }

  /**
   * The same catalogue as a part of another one.
   *
   * @param everything the catalogue with the entries that are not listed
   * @param isTold whether their names are resolved, so that their use is refused and not unknown
   */
  ToolCatalogue within(ToolCatalogue everything, boolean isTold) {
    return new ToolCatalogue(servers, qualified, profile, everything, isTold);
  }

  /** The full catalogue of a lean one; empty if this one lists its tools itself. */
  public Optional<ToolCatalogue> full() {
    return Optional.ofNullable(full);
  }

  /** The catalogue of one discovered server. */
  public static ToolCatalogue of(ServerView server) {
    return new ToolCatalogue(List.of(server), false, null, null, false);
  }

  /** The catalogue of all discovered servers, sorted by their names. */
  public static ToolCatalogue ofAll(Collection<ServerView> servers) {
    return new ToolCatalogue(discovered(servers), true, null, null, false);
  }

  /** What a profile offers of the discovered servers, sorted by their names. */
  public static ToolCatalogue of(Profile profile, Collection<ServerView> servers) {
    List<ServerView> offered =
        discovered(servers).stream()
            .filter(server -> profile.contains(server.id()))
            .map(profile::offered)
            .toList();
    return new ToolCatalogue(offered, true, profile, null, false);
  }

  private static List<ServerView> discovered(Collection<ServerView> servers) {
    return servers.stream()
        .filter(ServerView::isDiscovered)
        .sorted(Comparator.comparing(server -> server.id().name()))
        .toList();
  }

  public List<ServerView> servers() {
    return servers;
  }

  /** Whether names include their server. */
  public boolean isQualified() {
    return qualified;
  }

  /** The profile that decides what is offered, if it is one. */
  public Optional<Profile> profile() {
    return Optional.ofNullable(profile);
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
    return resources.resources();
  }

  public List<JsonSlice> templates() {
    return resources.templates();
  }

  /** The tool of a name, listed or not. */
  public Optional<ToolLocation> tool(String name) {
    return Optional.ofNullable(tools.get(name)).or(() -> unlisted(all -> all.tools.get(name)));
  }

  /** An entry of a server of this catalogue that it does not list. */
  private Optional<ToolLocation> unlisted(Function<ToolCatalogue, ToolLocation> find) {
    return Optional.ofNullable(tellsOfUnlisted ? whole : null)
        .map(find)
        .filter(
            location ->
                servers.stream().anyMatch(each -> each.id().equals(location.server().id())));
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
   * The tool of a name, or of a name that only it has at its server, that is not resolved for this
   * caller.
   */
  public Optional<ToolLocation> concealedTool(String name) {
    if (whole == null) {
      return Optional.empty();
    }
    List<String> names = whole.tools.containsKey(name) ? List.of(name) : whole.namesOf(name);
    return names.size() == 1 && tool(names.get(0)).isEmpty()
        ? Optional.of(whole.tools.get(names.get(0)))
        : Optional.empty();
  }

  /** The prompt of a name that is not resolved for this caller. */
  public Optional<ToolLocation> concealedPrompt(String name) {
    return concealed(all -> all.prompts.get(name)).filter(hidden -> prompt(name).isEmpty());
  }

  /** The listed resource of a URI that is not resolved for this caller. */
  public Optional<ToolLocation> concealedResource(String uri) {
    return concealed(all -> all.resources.listed(uri)).filter(hidden -> resource(uri).isEmpty());
  }

  private Optional<ToolLocation> concealed(Function<ToolCatalogue, ToolLocation> find) {
    return Optional.ofNullable(whole).map(find);
  }

  /** The resource of a URI, listed or not. */
  public Optional<Resource> resource(String uri) {
    return resources.find(uri);
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
              ToolShape shape = shape(server, tool);
              String listedName = put(tools, server, tool.name(), tool.definition(), shape);
              String searched = shape.name() == null ? tool.name() : shape.name();
              toolsByOwnName.computeIfAbsent(searched, n -> new ArrayList<>(1)).add(listedName);
            });
    catalogue
        .prompts()
        .forEach(prompt -> put(prompts, server, text(prompt, "name"), prompt, ToolShape.PLAIN));
  }

  private ToolShape shape(ServerView server, Tool tool) {
    return profile == null ? ToolShape.PLAIN : profile.shape(server.id(), tool.name());
  }

  /** Returns the name in this catalogue. */
  private String put(
      Map<String, ToolLocation> locations,
      ServerView server,
      String name,
      JsonSlice entry,
      ToolShape shape) {
    if (!qualified) {
      locations.putIfAbsent(name, new ToolLocation(server, name, entry, shape));
      return name;
    }
    String listedName = shape.name() == null ? QualifiedNames.of(server.id(), name) : shape.name();
    JsonSlice own = JsonObjects.members(entry).get("name");
    JsonSlice renamed = JsonObjects.replaceValue(entry, own, JsonObjects.quoted(listedName));
    locations.putIfAbsent(listedName, new ToolLocation(server, name, renamed, shape));
    return listedName;
  }

  static List<JsonSlice> entries(Map<String, ToolLocation> locations) {
    return locations.values().stream().map(ToolLocation::entry).toList();
  }

  static String text(JsonSlice entry, String member) {
    String text = JsonObjects.string(JsonObjects.members(entry).get(member));
    return text == null ? "" : text;
  }
}
