package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.ToolCatalogue;
import dev.mcpbridge.call.ToolLocation;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.Function;
import dev.mcpbridge.dialect.Reduction;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tools as functions for a model, cached by catalogue and format. Reducing many schemas takes time,
 * so it runs on a worker thread. Confined to its context.
 */
final class FunctionLists {
  private static final int TAG_DIGITS = 24;
  private static final int MAX_LISTS = 16;

  private final Vertx vertx;
  private final Map<ListKey, Future<Functions>> lists = new BoundedMap<>(MAX_LISTS);

  private record ListKey(ToolCatalogue catalogue, Style style) {}

  /**
   * How a list is written.
   *
   * @param isLean whether it lists the tools of lean discovery, too
   */
  record Style(Format format, boolean strict, boolean isLean) {}

  /**
   * One function of a list.
   *
   * @param toolLocation null for the functions of lean discovery
   * @param reduction its parameters in the format, and the constraints that were lost
   */
  record ListedFunction(
      ToolLocation toolLocation, String name, JsonSlice definition, Reduction reduction) {
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

  /**
   * A list of functions as a response body.
   *
   * @param tag entity tag of the body (RFC 9110 section 8.8.3)
   */
  record Listing(JsonSlice body, String tag) {
    static Listing of(Format format, List<ListedFunction> entries) {
      List<JsonSlice> definitions = entries.stream().map(ListedFunction::definition).toList();
      JsonWriter out =
          new JsonWriter(1 << 16)
              .beginObject()
              .member("format", format.id())
              .member("tools", format.tools(definitions))
              .name("reductions")
              .beginArray();
      for (ListedFunction entry : entries) {
        List<String> lost = entry.reduction().reductions();
        if (!lost.isEmpty()) {
          out.beginObject().member("name", entry.name()).name("lost").beginArray();
          lost.forEach(out::value);
          out.endArray().endObject();
        }
      }
      JsonSlice body = out.endArray().endObject().toSlice();
      return new Listing(body, new Sha256().add(body).hex(TAG_DIGITS));
    }
  }

  /** All functions of a catalogue, and the list of all of them. */
  record Functions(Format format, List<ListedFunction> entries, Listing whole) {
    /** The list, restricted to the servers and names if any are given. */
    Listing listing(Set<String> servers, List<Glob> names) {
      return servers.isEmpty() && names.isEmpty()
          ? whole
          : Listing.of(
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
    ListKey listKey = new ListKey(toolCatalogue.full().orElse(toolCatalogue), style);
    return lists
        .computeIfAbsent(
            listKey, key -> vertx.executeBlocking(() -> create(toolCatalogue, style), false))
        .onFailure(failed -> lists.remove(listKey));
  }

  private static Functions create(ToolCatalogue toolCatalogue, Style style) {
    List<ListedFunction> entries = new ArrayList<>();
    if (style.isLean()) {
      for (Tool tool : LeanDiscovery.TOOLS) {
        entries.add(entry(null, tool.name(), tool, style));
      }
    }
    for (Map.Entry<String, ToolLocation> each : toolCatalogue.toolsByName().entrySet()) {
      entries.add(entry(each.getValue(), each.getKey(), each.getValue().tool(), style));
    }
    return new Functions(style.format(), entries, Listing.of(style.format(), entries));
  }

  private static ListedFunction entry(
      ToolLocation toolLocation, String name, Tool tool, Style style) {
    Function function =
        Function.of(
            name,
            tool.description().isEmpty() ? tool.title() : tool.description(),
            tool.inputSchema());
    Reduction reduction = style.format().dialect(style.strict()).reduce(function.inputSchema());
    return new ListedFunction(
        toolLocation, name, style.format().definition(function, reduction), reduction);
  }
}
