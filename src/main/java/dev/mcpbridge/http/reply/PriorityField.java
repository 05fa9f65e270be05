package dev.mcpbridge.http.reply;

import dev.mcpbridge.protocol.Urgency;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;
import org.greenbytes.http.sfv.Dictionary;
import org.greenbytes.http.sfv.IntegerItem;
import org.greenbytes.http.sfv.ListElement;
import org.greenbytes.http.sfv.ParseException;
import org.greenbytes.http.sfv.Parser;

/** The header field Priority: how urgent a request is (RFC 9218 section 4). Stateless. */
final class PriorityField {
  private static final CharSequence NAME = HttpHeaders.createOptimized("priority");

  private PriorityField() {}

  /** The urgency of a request; UNSPECIFIED without a valid one, which is ignored (section 4). */
  static int urgency(RoutingContext ctx) {
    String field = ctx.request().getHeader(NAME);
    return field == null ? Urgency.UNSPECIFIED : urgency(field);
  }

  private static int urgency(String field) {
    try {
      Dictionary members = Parser.parseDictionary(field);
      Map<String, ListElement<?>> byName = members.get();
      return byName.get("u") instanceof IntegerItem urgency && Urgency.isValid(urgency.getAsLong())
          ? (int) urgency.getAsLong()
          : Urgency.UNSPECIFIED;
    } catch (ParseException e) {
      return Urgency.UNSPECIFIED;
    }
  }
}
