package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.RandomIds;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Response bodies that were too large for a result. A body can be read by its URI, which contains
 * 128 random bits. Bodies are kept for ten minutes; if they exceed the size limit, the oldest are
 * evicted. Confined to its context.
 */
final class LargeBodyStore {
  private static final String PREFIX = "api-result:///";
  private static final long RETENTION_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long MAX_BYTES = 64L << 20;

  private final Map<String, StoredBody> bodies = new LinkedHashMap<>();
  private long bytes;

  private record StoredBody(String type, byte[] body, long sinceNanos) {}

  /** Stores a body and returns its URI. */
  String store(String type, byte[] body) {
    String uri = PREFIX + RandomIds.next();
    bodies.put(uri, new StoredBody(type, body, System.nanoTime()));
    bytes += body.length;
    evict();
    return uri;
  }

  /** The result of {@code resources/read}. */
  JsonSlice read(String uri) {
    evict();
    StoredBody storedBody = uri == null ? null : bodies.get(uri);
    if (storedBody == null) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "The resource does not exist or has expired");
    }
    JsonWriter out =
        new JsonWriter(storedBody.body().length * 2)
            .beginObject()
            .name("contents")
            .beginArray()
            .beginObject()
            .member("uri", uri)
            .member("mimeType", storedBody.type());
    if (ResultMapper.isText(storedBody.type())) {
      out.member("text", new String(storedBody.body(), StandardCharsets.UTF_8));
    } else {
      out.member("blob", Base64.getEncoder().encodeToString(storedBody.body()));
    }
    return out.endObject().endArray().endObject().toSlice();
  }

  private void evict() {
    Iterator<StoredBody> oldest = bodies.values().iterator();
    while (oldest.hasNext()) {
      StoredBody storedBody = oldest.next();
      boolean isOld = System.nanoTime() - storedBody.sinceNanos() > RETENTION_NANOS;
      if (!isOld && bytes <= MAX_BYTES) {
        return;
      }
      bytes -= storedBody.body().length;
      oldest.remove();
    }
  }
}
