package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Bodies that were too large to show, for whoever has their name: 128 random bits. Kept for ten
 * minutes, and no more than so many bytes of them; the oldest go first. Confined to its context.
 */
final class LargeBodyStore {
  private static final String PREFIX = "api-result:///";
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long MAX_BYTES = 64L << 20;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Map<String, StoredBody> bodies = new LinkedHashMap<>();
  private long bytes;

  private record StoredBody(String type, byte[] body, long sinceNanos) {}

  /** Returns its URI. */
  String keep(String type, byte[] body) {
    byte[] name = new byte[16];
    RANDOM.nextBytes(name);
    String uri = PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(name);
    bodies.put(uri, new StoredBody(type, body, System.nanoTime()));
    bytes += body.length;
    forget();
    return uri;
  }

  /** The result of {@code resources/read}. */
  JsonSlice read(String uri) {
    forget();
    StoredBody storedBody = uri == null ? null : bodies.get(uri);
    if (storedBody == null) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "There is no such resource, or not any more");
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

  private void forget() {
    Iterator<StoredBody> oldest = bodies.values().iterator();
    while (oldest.hasNext()) {
      StoredBody storedBody = oldest.next();
      boolean isOld = System.nanoTime() - storedBody.sinceNanos() > KEPT_NANOS;
      if (!isOld && bytes <= MAX_BYTES) {
        return;
      }
      bytes -= storedBody.body().length;
      oldest.remove();
    }
  }
}
