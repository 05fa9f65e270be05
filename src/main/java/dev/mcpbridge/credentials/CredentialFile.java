package dev.mcpbridge.credentials;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * Keeps the sealed credentials of a single node in a file, readable by its user only. Written as
 * soon as something has changed, and when it is read with a newer key, so that older keys can be
 * removed.
 */
public final class CredentialFile {
  private static final Logger LOG = System.getLogger(CredentialFile.class.getName());

  private final Vertx vertx;
  private final SharedMap map;
  private final SealingKeys keys;
  private final Path file;
  private Future<Void> writing = Future.succeededFuture();
  private boolean isStale;
  private boolean hasFailed;

  /** An entry of the file. */
  private record Entry(String name, byte[] sealed, long untilMillis, boolean isResealed) {}

  public CredentialFile(Vertx vertx, SharedMap map, SealingKeys keys, Path file) {
    this.vertx = vertx;
    this.map = map;
    this.keys = keys;
    this.file = file;
  }

  /**
   * Reads the file, and keeps it up to date from then on. Called on the event loop.
   *
   * @return fails if it holds credentials that no configured key opens; it is left as it is
   */
  public Future<Void> keep() {
    return vertx
        .executeBlocking(this::read)
        .compose(
            entries ->
                Future.all(entries.stream().map(this::restore).toList())
                    .map(restored -> entries.stream().anyMatch(Entry::isResealed)))
        .map(
            isOld -> {
              map.onChange(this::changed);
              if (isOld) {
                changed();
              }
              return null;
            });
  }

  private Future<SharedMap.Change> restore(Entry entry) {
    boolean isLasting = entry.untilMillis() == Long.MAX_VALUE;
    long left = isLasting ? Long.MAX_VALUE : entry.untilMillis() - System.currentTimeMillis();
    return left <= 0
        ? Future.succeededFuture()
        : map.put(entry.name(), SharedMap.ABSENT, entry.sealed(), left, Eviction.NEVER);
  }

  private List<Entry> read() throws IOException {
    List<Entry> entries = new ArrayList<>();
    if (!Files.exists(file)) {
      return entries;
    }
    for (JsonNode each : Json.tree(Files.readAllBytes(file)).path("credentials")) {
      String name = each.path("name").asText();
      byte[] sealed = each.path("sealed").binaryValue();
      byte[] text = sealed == null ? null : keys.open(name, sealed);
      if (text == null) {
        throw new IOException(
            file
                + " has a credential that the configured keys do not open; its key is '"
                + (sealed == null ? "?" : SealingKeys.idOf(sealed))
                + "'. Add the key to credentials.keys, or move the file away");
      }
      boolean isOld = !keys.isSealedWithNewest(sealed);
      byte[] current = isOld ? keys.seal(name, text) : sealed;
      entries.add(new Entry(name, current, each.path("until").asLong(), isOld));
    }
    return entries;
  }

  /** One writer at a time; changes meanwhile are written by the next. */
  private void changed() {
    isStale = true;
    if (writing.isComplete()) {
      writing = write();
    }
  }

  /** Completes when all changes so far are in the file. */
  public Future<Void> written() {
    return writing;
  }

  private Future<Void> write() {
    isStale = false;
    Map<String, SharedMap.Item> items = map.cached();
    return vertx
        .executeBlocking(
            () -> {
              PrivateFile.replace(file, text(items));
              return null;
            })
        .onComplete(written -> report(written.cause()))
        .otherwiseEmpty()
        .compose(written -> isStale ? write() : Future.succeededFuture());
  }

  private static String text(Map<String, SharedMap.Item> items) {
    ArrayNode entries = Json.mapper().createArrayNode();
    items.forEach(
        (name, item) ->
            entries
                .addObject()
                .put("name", name)
                .put("until", item.untilMillis())
                .put("sealed", Base64.getEncoder().encodeToString(item.value())));
    return Json.object().set("credentials", entries).toString();
  }

  private void report(Throwable failure) {
    if (failure != null && !hasFailed) {
      LOG.log(Level.WARNING, "{0} cannot be written: {1}", file, failure.getMessage());
    }
    hasFailed = failure != null;
  }
}
