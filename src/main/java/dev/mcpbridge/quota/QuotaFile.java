package dev.mcpbridge.quota;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Keeps the counts of calendar periods in a file, so that a restart does not begin a day anew.
 * Written every second if something has changed.
 */
public final class QuotaFile {
  private static final Logger LOG = System.getLogger(QuotaFile.class.getName());
  private static final long INTERVAL_MILLIS = 1_000;

  private final Quotas quotas;
  private final Path file;
  private String written = "";
  private boolean hasFailed;

  public QuotaFile(Quotas quotas, Path file) {
    this.quotas = quotas;
    this.file = file;
  }

  /** Reads the file and keeps it up to date until Vert.x closes; blocks. */
  public void keep(Vertx vertx) {
    read();
    vertx.setPeriodic(
        INTERVAL_MILLIS,
        t -> {
          if (!quotas.isEmpty()) {
            vertx.executeBlocking(this::write, true);
          }
        });
  }

  void read() {
    if (!Files.exists(file)) {
      return;
    }
    try {
      for (JsonNode count : Json.tree(Files.readAllBytes(file)).path("counts")) {
        quotas.restore(
            new Quotas.Key(count.path("quota").asText(), count.path("count").asText()),
            count.path("used").asLong(),
            count.path("until").asLong());
      }
    } catch (IOException e) {
      LOG.log(Level.WARNING, "{0} cannot be read, quotas begin anew: {1}", file, e.getMessage());
    }
  }

  /** Writes the counts, if they have changed. Not concurrently. */
  public synchronized Void write() {
    ArrayNode counts = Json.mapper().createArrayNode();
    quotas
        .inPeriods()
        .forEach(
            (key, period) ->
                counts
                    .addObject()
                    .put("quota", key.rule())
                    .put("count", key.count())
                    .put("used", period.used())
                    .put("until", period.endMillis()));
    String text = Json.object().set("counts", counts).toString();
    boolean isFirst = written.isEmpty() && counts.isEmpty();
    if (text.equals(written) || isFirst) {
      return null;
    }
    try {
      PrivateFile.replace(file, text);
      written = text;
    } catch (IOException e) {
      if (!hasFailed) {
        LOG.log(Level.WARNING, "{0} cannot be written: {1}", file, e.getMessage());
      }
      hasFailed = true;
    }
    return null;
  }
}
