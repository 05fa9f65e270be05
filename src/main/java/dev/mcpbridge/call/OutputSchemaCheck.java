package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.validation.SchemaValidator;
import dev.mcpbridge.validation.SchemaValidator.Subject;
import dev.mcpbridge.validation.Verdict;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Checks results against the {@code outputSchema} of their tool (MCP server/tools). A mismatch is
 * logged and published as an event; the result is passed on unchanged. Checks results of up to 64
 * KiB, at most ten a second for each tool, and stops checking a tool whose schema exceeds the work
 * budget. Confined to its verticle.
 */
public final class OutputSchemaCheck {
  private static final RateLimitedLogger LOG =
      new RateLimitedLogger(System.getLogger(OutputSchemaCheck.class.getName()));
  private static final int MAX_BYTES = 64 << 10;
  private static final int MAX_TOOLS = 20_000;
  private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final SchemaValidator validator;
  private final Bus bus;
  private final Counts counts;
  private final Map<String, Long> nextCheckNanos = new HashMap<>();

  public OutputSchemaCheck(SchemaValidator validator, Bus bus, Counts counts) {
    this.validator = validator;
    this.bus = bus;
    this.counts = counts;
  }

  /** Checks a result unless the rate limit or a size limit applies. */
  void check(ServerId server, Tool tool, JsonSlice result) {
    if (tool == null || tool.outputSchema() == null || result.length() > MAX_BYTES) {
      return;
    }
    long now = System.nanoTime();
    Long next = nextCheckNanos.get(tool.digest());
    if (next != null && now - next < 0 || nextCheckNanos.size() > MAX_TOOLS) {
      return;
    }
    nextCheckNanos.put(tool.digest(), now + INTERVAL_NANOS);
    try {
      compare(server, tool, JsonObjects.members(result));
    } catch (IOException e) {
      report(server, tool, List.of("the result cannot be parsed: " + e.getMessage()));
    }
  }

  private void compare(ServerId server, Tool tool, Map<String, JsonSlice> members)
      throws IOException {
    String type = JsonObjects.string(members.get("resultType"));
    boolean isOver = type == null || type.equals("complete");
    if (!isOver || JsonSlice.of("true").equals(members.get("isError"))) {
      return;
    }
    JsonSlice content = members.get("structuredContent");
    if (content == null) {
      report(server, tool, List.of("there is no structuredContent"));
      return;
    }
    validator
        .validate("server " + server, subject(server, tool), Json.tree(content), content.length())
        .onSuccess(verdict -> handle(server, tool, verdict));
  }

  private static Subject subject(ServerId server, Tool tool) {
    return new Subject(
        "output " + tool.digest(), "outputSchema", tool.name(), server.name(), tool.outputSchema());
  }

  private void handle(ServerId server, Tool tool, Verdict verdict) {
    if (verdict instanceof Verdict.Mismatch mismatch) {
      report(server, tool, mismatch.errors().stream().limit(5).toList());
    } else if (verdict instanceof Verdict.Unchecked) {
      counts.unchecked(server.name());
      nextCheckNanos.put(tool.digest(), Long.MAX_VALUE);
    }
  }

  private void report(ServerId server, Tool tool, List<String> mismatches) {
    LOG.log(
        server + " " + tool.name(),
        true,
        () ->
            "server="
                + server
                + " tool="
                + tool.name()
                + " code=output_mismatch detail="
                + mismatches.get(0));
    JsonWriter event =
        new JsonWriter()
            .beginObject()
            .member("server", server.name())
            .member("tool", tool.name())
            .name("errors")
            .beginArray();
    mismatches.forEach(event::value);
    bus.publish(
        Addresses.EVENTS,
        new BridgeEvent(
            "output_mismatch", event.endArray().endObject().toSlice(), null, server, tool.name()));
  }
}
