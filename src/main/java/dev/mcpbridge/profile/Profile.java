package dev.mcpbridge.profile;

import dev.mcpbridge.access.Item;
import dev.mcpbridge.access.Items;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A named view of the servers: which of their entries are offered, and how the tools among them
 * look. It only takes away: what a caller may use is decided by the access rules, by the names of
 * the servers. Immutable.
 *
 * @param instructions for clients; null for none
 * @param parts the first one whose name fits a server counts for it
 */
public record Profile(String name, String instructions, List<Part> parts) {

  /**
   * What is offered of some servers.
   *
   * @param servers a name, or a pattern
   * @param items the entries, whatever their server
   * @param shapes how tools look, by their names at the server
   */
  public record Part(Glob servers, Items items, Map<String, ToolShape> shapes) {}

  /** Whether something of a server can be offered. */
  public boolean contains(ServerId server) {
    return part(server).isPresent();
  }

  private Optional<Part> part(ServerId server) {
    return parts.stream().filter(part -> part.servers().matches(server.name())).findFirst();
  }

  /** How a tool looks. */
  public ToolShape shape(ServerId server, String tool) {
    return part(server)
        .map(part -> part.shapes().getOrDefault(tool, ToolShape.PLAIN))
        .orElse(ToolShape.PLAIN);
  }

  /** Whether a resource is offered, also one that its server does not list. */
  public boolean offersResource(ServerId server, String uri) {
    return offers(server, Item.Kind.RESOURCE, uri);
  }

  /** Whether an entry is offered. */
  boolean offers(ServerId server, Item.Kind kind, String entry) {
    return part(server).filter(part -> part.items().offer(server, kind, entry)).isPresent();
  }

  /**
   * What is offered of a server that this profile contains. Tools have their shapes, and still the
   * names of the server.
   */
  public ServerView offered(ServerView server) {
    return server.isDiscovered()
        ? server.withCatalogue(offered(server.id(), server.catalogue()))
        : server;
  }

  /** What of this profile has no effect on a server, or makes calls fail; for people. */
  public List<String> problems(ServerId server, Catalogue all) {
    List<String> problems = new ArrayList<>();
    part(server)
        .ifPresent(
            part -> {
              Set<String> names = new TreeSet<>(part.items().exactNames(Item.Kind.TOOL));
              names.addAll(part.shapes().keySet());
              names.forEach(
                  name ->
                      problems(server, name, all.tools().get(name))
                          .forEach(each -> problems.add(server + ", " + name + ": " + each)));
            });
    return problems;
  }

  private List<String> problems(ServerId server, String name, Tool tool) {
    if (tool == null) {
      return List.of("the server has no such tool");
    }
    return offers(server, Item.Kind.TOOL, name)
        ? shape(server, name).problems(tool)
        : List.of("is not among the tools of the profile");
  }

  /** What is offered of a catalogue. */
  public Catalogue offered(ServerId server, Catalogue all) {
    Map<String, Tool> tools = new LinkedHashMap<>();
    all.tools()
        .forEach(
            (name, tool) -> {
              if (offers(server, Item.Kind.TOOL, name)) {
                tools.put(name, shape(server, name).shaped(tool));
              }
            });
    List<JsonSlice> resources = offered(server, all.resources(), Item.Kind.RESOURCE, "uri");
    List<JsonSlice> templates = offered(server, all.templates(), Item.Kind.TEMPLATE, "uriTemplate");
    List<JsonSlice> prompts = offered(server, all.prompts(), Item.Kind.PROMPT, "name");
    Sha256 digest = new Sha256();
    tools.forEach(
        (name, tool) ->
            digest.add(tool.digest()).add(String.valueOf(shape(server, name).name())).end());
    Stream.of(resources, templates, prompts)
        .flatMap(List::stream)
        .forEach(entry -> digest.add(entry).end());
    return new Catalogue(
        tools, resources, templates, prompts, null, all.warnings(), digest.hex(24));
  }

  private List<JsonSlice> offered(
      ServerId server, List<JsonSlice> entries, Item.Kind kind, String member) {
    return Catalogue.kept(entries, member, name -> offers(server, kind, name));
  }
}
