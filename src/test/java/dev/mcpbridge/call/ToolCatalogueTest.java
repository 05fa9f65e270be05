package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.access.Item;
import dev.mcpbridge.access.Items;
import dev.mcpbridge.access.Names;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Resources of several servers. */
class ToolCatalogueTest {
  private static final JsonSlice README =
      JsonSlice.of("{\"name\":\"r\",\"uri\":\"file:///readme\",\"size\":1.0}");
  private static final JsonSlice FILES =
      JsonSlice.of("{\"name\":\"f\",\"uriTemplate\":\"file:///{path}\"}");

  private final ToolCatalogue toolCatalogue =
      ToolCatalogue.ofAll(List.of(server("a", README), server("b", README, README), server("c")));

  private static ServerView server(String id, JsonSlice... resources) {
    Catalogue catalogue =
        new Catalogue(Map.of(), List.of(resources), List.of(FILES), List.of(), null, Map.of(), "0");
    return ServerViews.of(
        new ServerId(id),
        new ServerState.Ready(),
        catalogue,
        null,
        new InstanceLocation(1, null, 0));
  }

  private String resolve(String uri) {
    Optional<ToolCatalogue.Resource> resource = toolCatalogue.resource(uri);
    return resource.map(found -> found.server().name() + " " + found.uri()).orElse("nothing");
  }

  @Test
  void aTemplateOfOneServerDoesNotOpenAnotherOneInAProfile() {
    JsonSlice trap = JsonSlice.of("{\"name\":\"t\",\"uriTemplate\":\"mcp-bridge://b/file:///x\"}");
    Catalogue evil =
        new Catalogue(Map.of(), List.of(), List.of(trap), List.of(), null, Map.of(), "0");
    Items all = new Items(Names.ALL, Map.of(), List.of());
    Items tools = new Items(Names.ALL, Map.of(Item.Kind.TOOL, Names.ALL), List.of());
    Profile profile =
        new Profile(
            "p",
            null,
            List.of(
                new Profile.Part(new Glob("a"), all, Map.of()),
                new Profile.Part(new Glob("b"), tools, Map.of())));

    ToolCatalogue offered =
        ToolCatalogue.of(profile, List.of(server("a").withCatalogue(evil), server("b", README)));

    assertEquals(Optional.empty(), offered.resource("mcp-bridge://b/file:///x"));
    assertEquals(
        Optional.empty(),
        offered.resource("file:///readme").filter(it -> it.server().name().equals("b")));
  }

  private static String texts(List<JsonSlice> entries) {
    return entries.stream().map(JsonSlice::text).toList().toString();
  }

  @Test
  void equalUrisAreListedOnceForEachServer() {
    assertEquals(
        "[{\"name\":\"r\",\"uri\":\"file:///readme\",\"size\":1.0}, "
            + "{\"name\":\"r\",\"uri\":\"mcp-bridge://b/file:///readme\",\"size\":1.0}]",
        texts(toolCatalogue.resources()));
    assertEquals(
        "[{\"name\":\"f\",\"uriTemplate\":\"file:///{path}\"}, "
            + "{\"name\":\"f\",\"uriTemplate\":\"mcp-bridge://b/file:///{path}\"}, "
            + "{\"name\":\"f\",\"uriTemplate\":\"mcp-bridge://c/file:///{path}\"}]",
        texts(toolCatalogue.templates()));
  }

  @Test
  void urisResolveToTheirServers() {
    assertEquals("a file:///readme", resolve("file:///readme"));
    assertEquals("b file:///readme", resolve("mcp-bridge://b/file:///readme"));
    assertEquals("a file:///other", resolve("file:///other"));
    assertEquals("c file:///other", resolve("mcp-bridge://c/file:///other"));
    assertEquals("nothing", resolve("mcp-bridge://d/file:///readme"));
  }

  @Test
  void singleServerKeepsItsUris() {
    ToolCatalogue alone = ToolCatalogue.of(server("b", README));

    assertEquals(List.of(README), alone.resources());
    assertEquals(
        "mcp-bridge://b/file:///readme",
        alone.resource("mcp-bridge://b/file:///readme").orElseThrow().uri());
  }
}
