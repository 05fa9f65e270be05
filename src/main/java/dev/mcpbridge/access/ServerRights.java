package dev.mcpbridge.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.io.IOException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** {@link Rights} at one server, for one state of its catalogue. */
public final class ServerRights {
  private final Rights rights;
  private final ServerId server;
  private final Catalogue all;
  private final boolean offersResources;

  /** The rights at tools that were asked for, by name; the catalogue bounds their number. */
  private final Map<String, ItemRights> tools = new HashMap<>();

  /** The rules that may be about entries of a kind, selected once for all of them. */
  private final Map<Item.Kind, Rights> byKind = new EnumMap<>(Item.Kind.class);

  private Catalogue listed;

  ServerRights(Rights rights, ServerView server) {
    this.rights = rights;
    this.server = server.id();
    this.all = server.catalogue();
    this.offersResources = server.identity() != null && server.identity().declares("resources");
  }

  boolean isOf(ServerView view) {
    return all == view.catalogue();
  }

  /** The rights at a tool of the catalogue. */
  public ItemRights at(Tool tool) {
    return tools.computeIfAbsent(
        tool.name(),
        name ->
            about(Item.Kind.TOOL).dependsOnAnnotations()
                ? at(item(server, tool))
                : at(Item.Kind.TOOL, name));
  }

  /** A tool as rules see it. */
  public static Item item(ServerId server, Tool tool) {
    return Item.tool(server, tool.name(), annotations(tool.definition()));
  }

  /** The rights at a resource, listed or not, or at a prompt. */
  public ItemRights at(Item.Kind kind, String name) {
    return at(Item.of(server, kind, name));
  }

  private ItemRights at(Item item) {
    return new ItemRights(about(item.kind()), item);
  }

  private Rights about(Item.Kind kind) {
    return byKind.computeIfAbsent(kind, each -> rights.about(server, each));
  }

  private static JsonNode annotations(JsonSlice definition) {
    JsonSlice annotations = JsonObjects.members(definition).get("annotations");
    try {
      return annotations == null ? MissingNode.getInstance() : Json.tree(annotations);
    } catch (IOException e) {
      return MissingNode.getInstance();
    }
  }

  /** The entries that are listed, in the order of the server; null before its first start. */
  public Catalogue listed() {
    if (listed == null && all != null) {
      listed = filtered();
    }
    return listed;
  }

  /**
   * Whether the server is shown: something of it is, or could be as soon as it has started or of
   * its unlisted resources.
   */
  public boolean isVisible() {
    if (rights.seesAllServers()) {
      return true;
    }
    if (all == null) {
      return Stream.of(Item.Kind.values()).anyMatch(this::mayHave);
    }
    Catalogue catalogue = listed();
    return !catalogue.tools().isEmpty()
        || !catalogue.prompts().isEmpty()
        || !catalogue.resources().isEmpty()
        || !catalogue.templates().isEmpty()
        || offersResources && mayHave(Item.Kind.RESOURCE);
  }

  /** Whether the rules allow something of a kind that the server has not listed. */
  private boolean mayHave(Item.Kind kind) {
    boolean isDenied =
        rights.denying().stream()
            .anyMatch(
                rule ->
                    rule.isAbout(server, kind)
                        && rule.items().isAllOfAServer()
                        && rule.isUnconditional()
                        && rule.concerns(kind));
    return !isDenied
        && (rights.allowsByDefault()
            || Stream.concat(rights.allowing().stream(), rights.lacking().stream())
                .anyMatch(rule -> rule.isAbout(server, kind) && rule.concerns(kind)));
  }

  private Catalogue filtered() {
    Map<String, Tool> visible = new LinkedHashMap<>();
    all.tools()
        .forEach(
            (name, tool) -> {
              if (at(tool).isListed()) {
                visible.put(name, tool);
              }
            });
    List<JsonSlice> resources = listed(all.resources(), Item.Kind.RESOURCE, "uri");
    List<JsonSlice> templates = listed(all.templates(), Item.Kind.TEMPLATE, "uriTemplate");
    List<JsonSlice> prompts = listed(all.prompts(), Item.Kind.PROMPT, "name");
    boolean isWhole =
        visible.size() == all.tools().size()
            && resources.size() == all.resources().size()
            && templates.size() == all.templates().size()
            && prompts.size() == all.prompts().size();
    if (isWhole) {
      return all;
    }
    Sha256 digest = new Sha256().add(all.digest()).end();
    visible.keySet().forEach(name -> digest.add(name).end());
    Stream.of(resources, templates, prompts)
        .flatMap(List::stream)
        .forEach(entry -> digest.add(entry));
    return new Catalogue(
        visible, resources, templates, prompts, all.omitted(), all.warnings(), digest.hex(24));
  }

  private List<JsonSlice> listed(List<JsonSlice> entries, Item.Kind kind, String member) {
    return Catalogue.kept(entries, member, name -> at(kind, name).isListed());
  }
}
