package dev.mcpbridge.http.toolcall;

import dev.mcpbridge.call.Offer;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.Function;
import dev.mcpbridge.dialect.Reduction;
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

/**
 * Functions out of tools, written once for each format and offer. The reductions of many schemas
 * take their time, so they are made beside the event loop. Confined to its context.
 */
final class FunctionLists {
  private final Vertx vertx;
  private final Map<Style, Future<List<Entry>>> lists = new HashMap<>();
  private Offer madeOf;

  /** How definitions are written. */
  record Style(Format format, boolean strict) {}

  /**
   * One function of a list.
   *
   * @param lost what its parameters say no more
   */
  record Entry(Offer.Place place, String name, JsonSlice definition, Reduction reduction) {}

  FunctionLists(Vertx vertx) {
    this.vertx = vertx;
  }

  Future<List<Entry>> of(Offer offer, Style style) {
    if (madeOf != offer) {
      madeOf = offer;
      lists.clear();
    }
    return lists.computeIfAbsent(
        style, s -> vertx.executeBlocking(() -> written(offer, style), false));
  }

  private static List<Entry> written(Offer offer, Style style) throws IOException {
    List<Entry> entries = new ArrayList<>();
    for (Map.Entry<String, Offer.Place> place : offer.toolsByName().entrySet()) {
      Tool tool = place.getValue().server().catalogue().tools().get(place.getValue().name());
      Function function =
          new Function(
              place.getKey(),
              tool.description().isEmpty() ? tool.title() : tool.description(),
              tool.inputSchema() == null ? null : Json.tree(tool.inputSchema()));
      Reduction reduction = style.format().dialect(style.strict()).reduce(function.inputSchema());
      entries.add(
          new Entry(
              place.getValue(),
              place.getKey(),
              style.format().definition(function, reduction),
              reduction));
    }
    return entries;
  }
}
