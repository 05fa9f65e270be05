package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.call.LeanDiscovery;
import dev.mcpbridge.call.Offer;
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
 * Functions out of tools, written once for each format and offer. The reductions of many schemas
 * take their time, so they are made beside the event loop. Confined to its context.
 */
final class FunctionLists {
  private final Vertx vertx;
  private final Map<Kept, Future<Functions>> lists = new HashMap<>();
  private Offer madeOf;

  private record Kept(Style style, boolean isLean) {}

  /** How definitions are written. */
  record Style(Format format, boolean strict) {}

  /**
   * One function of a list.
   *
   * @param lost what its parameters say no more
   */
  record Entry(Offer.Place place, String name, JsonSlice definition, Reduction reduction) {
    /** Whether it is one of these servers'; what belongs to all belongs to each. */
    boolean isOf(Set<String> servers) {
      return servers.isEmpty() || place == null || servers.contains(place.server().id().name());
    }

    boolean isNamed(List<Glob> names) {
      return names.isEmpty()
          || names.stream()
              .anyMatch(glob -> glob.matches(name) || place != null && glob.matches(place.name()));
    }
  }

  /** All functions of an offer, and their list as it stands. */
  record Functions(Format format, List<Entry> entries, Listing whole) {
    /** Only some of them, where any are named. */
    Listing listing(Set<String> servers, List<Glob> names) {
      return servers.isEmpty() && names.isEmpty()
          ? whole
          : Listing.of(
              format,
              entries.stream()
                  .filter(entry -> entry.isOf(servers) && entry.isNamed(names))
                  .toList());
    }
  }

  FunctionLists(Vertx vertx) {
    this.vertx = vertx;
  }

  Future<Functions> of(Offer offer, Style style) {
    Offer listed = offer.whole().orElse(offer);
    if (madeOf != listed) {
      madeOf = listed;
      lists.clear();
    }
    Kept key = new Kept(style, offer.whole().isPresent());
    return lists
        .computeIfAbsent(key, s -> vertx.executeBlocking(() -> written(offer, style), false))
        .onFailure(failed -> lists.remove(key));
  }

  private static Functions written(Offer offer, Style style) throws IOException {
    List<Entry> entries = new ArrayList<>();
    if (offer.whole().isPresent()) {
      for (Tool tool : LeanDiscovery.TOOLS) {
        entries.add(entry(null, tool.name(), tool, style));
      }
    }
    for (Map.Entry<String, Offer.Place> place : offer.toolsByName().entrySet()) {
      Tool tool = place.getValue().server().catalogue().tools().get(place.getValue().name());
      entries.add(entry(place.getValue(), place.getKey(), tool, style));
    }
    return new Functions(style.format(), entries, Listing.of(style.format(), entries));
  }

  private static Entry entry(Offer.Place place, String name, Tool tool, Style style)
      throws IOException {
    Function function =
        new Function(
            name,
            tool.description().isEmpty() ? tool.title() : tool.description(),
            tool.inputSchema() == null ? null : Json.exactTree(tool.inputSchema()));
    Reduction reduction = style.format().dialect(style.strict()).reduce(function.inputSchema());
    return new Entry(place, name, style.format().definition(function, reduction), reduction);
  }
}
