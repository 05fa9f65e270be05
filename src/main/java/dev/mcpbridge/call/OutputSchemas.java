package dev.mcpbridge.call;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.BridgeEvent;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Looks whether results keep what their tool's {@code outputSchema} promises (server/tools), and
 * says so in the log and to listeners of events where they do not; the result itself passes as it
 * is. Looks on a worker thread, at results of up to 64 KiB, and at no more than ten a second of a
 * tool. Confined to its verticle.
 */
public final class OutputSchemas {
  private static final CalmLog LOG = new CalmLog(System.getLogger(OutputSchemas.class.getName()));
  private static final int MAX_BYTES = 64 << 10;
  private static final int MAX_TOOLS = 20_000;
  private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Vertx vertx;
  private final Bus bus;
  private final CompiledSchemas compiled;
  private final Map<String, Long> lookedAt = new HashMap<>();

  public OutputSchemas(Vertx vertx, Bus bus) {
    this.vertx = vertx;
    this.bus = bus;
    this.compiled = new CompiledSchemas(vertx);
  }

  /** Looks at a result, if it is its turn. */
  void look(ServerId server, Tool tool, JsonSlice result) {
    if (tool == null || tool.outputSchema() == null || result.length() > MAX_BYTES) {
      return;
    }
    long now = System.nanoTime();
    Long last = lookedAt.get(tool.digest());
    if (last != null && now - last < INTERVAL_NANOS || lookedAt.size() > MAX_TOOLS) {
      return;
    }
    lookedAt.put(tool.digest(), now);
    JsonSlice own = result.detached();
    Optional<Schema> known = compiled.known(tool.digest());
    if (known != null) {
      compare(server, tool, known, own);
    } else {
      compiled
          .compile(tool.digest(), "outputSchema of tool " + tool.name(), tool.outputSchema())
          .onSuccess(schema -> compare(server, tool, schema, own));
    }
  }

  private void compare(ServerId server, Tool tool, Optional<Schema> schema, JsonSlice result) {
    if (schema.isPresent()) {
      vertx
          .executeBlocking(() -> mismatches(schema.get(), result), false)
          .onSuccess(
              mismatches -> {
                if (!mismatches.isEmpty()) {
                  flag(server, tool, mismatches);
                }
              })
          .onFailure(e -> compiled.giveUp(tool.digest(), "outputSchema of " + tool.name(), e));
    }
  }

  private static List<String> mismatches(Schema schema, JsonSlice result) throws IOException {
    Map<String, JsonSlice> members = JsonObjects.members(result);
    String type = JsonObjects.string(members.get("resultType"));
    boolean isOver = type == null || type.equals("complete");
    if (!isOver || JsonSlice.of("true").equals(members.get("isError"))) {
      return List.of();
    }
    JsonSlice content = members.get("structuredContent");
    return content == null
        ? List.of("there is no structuredContent")
        : schema.validate(Json.tree(content)).stream().limit(5).map(Error::toString).toList();
  }

  private void flag(ServerId server, Tool tool, List<String> mismatches) {
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
        new BridgeEvent("output_mismatch", event.endArray().endObject().toSlice(), null));
  }
}
