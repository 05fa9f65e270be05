package dev.mcpbridge.webhook;

import dev.mcpbridge.model.Notice;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.RandomIds;
import io.vertx.core.buffer.Buffer;
import java.time.Instant;

/**
 * A notice on its way to one receiver.
 *
 * @param id the same for all attempts, so that a receiver can ignore a repetition
 * @param source whose share of the waiting notices it uses
 * @param failures attempts that have failed
 */
record Delivery(String id, String source, Buffer body, int failures) {
  /** Arguments beyond this size, in bytes, are left out. */
  static final int MAX_ARGUMENTS = 16 * 1024;

  static Delivery of(Notice notice, long atMillis, boolean withArguments) {
    JsonWriter out =
        new JsonWriter()
            .beginObject()
            .member("type", notice.type().apiName())
            .member("timestamp", Instant.ofEpochMilli(atMillis).toString())
            .name("data")
            .beginObject()
            .membersOf(notice.data());
    if (withArguments && notice.arguments() != null) {
      if (notice.arguments().length() <= MAX_ARGUMENTS) {
        out.member("arguments", notice.arguments());
      } else {
        out.member("arguments_bytes", notice.arguments().length());
      }
    }
    return new Delivery(
        "msg_" + RandomIds.next(),
        notice.source(),
        Buffer.buffer(out.endObject().endObject().toBytes()),
        0);
  }

  Delivery failed() {
    return new Delivery(id, source, body, failures + 1);
  }
}
