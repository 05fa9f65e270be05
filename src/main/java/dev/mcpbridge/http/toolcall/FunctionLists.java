package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.Function;
import dev.mcpbridge.dialect.Reduction;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tools as functions for a model, cached for the current catalogue by format. Reducing many schemas
 * takes time, so it runs on a worker thread. Confined to its context.
 */
final class FunctionLists {
  private final Vertx vertx;
  private final Map<CacheKey, Future<Functions>> lists = new HashMap<>();
  private ToolCatalogue cachedCatalogue;

  private record CacheKey(Style style, boolean isLean) {}

  /** The format of the definitions. */
  record Style(Format format, boolean strict) {}

  /**
   * One function of a list.
   *
   * @param toolLocation null for the functions of lean discovery
   * @param reduction its parameters in the format, and the constraints that were lost
   */
  record ListedFunction(
      ToolCatalogue.ToolLocation toolLocation,
      String name,
      JsonSlice definition,
      Reduction reduction) {
    /** Whether it belongs to one of the servers; true for all if none is given. */
    boolean isOf(Set<String> servers) {
      return servers.isEmpty()
          || toolLocation == null
          || servers.contains(toolLocation.server().id().name());
    }

    boolean isNamed(List<Glob> names) {
      return names.isEmpty()
          || names.stream()
              .anyMatch(
                  glob ->
                      glob.matches(name)
                          || toolLocation != null && glob.matches(toolLocation.name()));
    }
  }

  /** All functions of a catalogue, and the list of all of them. */
  record Functions(Format format, List<ListedFunction> entries, FunctionList whole) {
    /** The list, restricted to the servers and names if any are given. */
    FunctionList listing(Set<String> servers, List<Glob> names) {
      return servers.isEmpty() && names.isEmpty()
          ? whole
          : FunctionList.of(
              format,
              entries.stream()
                  .filter(
                      listedFunction ->
                          listedFunction.isOf(servers) && listedFunction.isNamed(names))
                  .toList());
    }
  }

  FunctionLists(Vertx vertx) {
    this.vertx = vertx;
  }

  Future<Functions> of(ToolCatalogue toolCatalogue, Style style) {
    ToolCatalogue listed = toolCatalogue.full().orElse(toolCatalogue);
    if (cachedCatalogue != listed) {
      cachedCatalogue = listed;
      lists.clear();
    }
    CacheKey key = new CacheKey(style, toolCatalogue.full().isPresent());
    return lists
        .computeIfAbsent(
            key, unused -> vertx.executeBlocking(() -> create(toolCatalogue, style), false))
        .onFailure(failed -> lists.remove(key));
  }

  private static Functions create(ToolCatalogue toolCatalogue, Style style) throws IOException {
    List<ListedFunction> entries = new ArrayList<>();
    if (toolCatalogue.full().isPresent()) {
      for (Tool tool : LeanDiscovery.TOOLS) {
        entries.add(entry(null, tool.name(), tool, style));
      }
    }
    for (Map.Entry<String, ToolCatalogue.ToolLocation> each :
        toolCatalogue.toolsByName().entrySet()) {
      Tool tool = each.getValue().server().catalogue().tools().get(each.getValue().name());
      entries.add(entry(each.getValue(), each.getKey(), tool, style));
    }
    return new Functions(style.format(), entries, FunctionList.of(style.format(), entries));
  }

  private static ListedFunction entry(
      ToolCatalogue.ToolLocation toolLocation, String name, Tool tool, Style style)
      throws IOException {
    Function function =
        new Function(
            name,
            tool.description().isEmpty() ? tool.title() : tool.description(),
            tool.inputSchema() == null ? null : Json.exactTree(tool.inputSchema()));
    Reduction reduction = style.format().dialect(style.strict()).reduce(function.inputSchema());
    return new ListedFunction(
        toolLocation, name, style.format().definition(function, reduction), reduction);
  }
}
