package dev.mcpbridge.adapter.openapi;

import io.vertx.core.buffer.Buffer;
import java.util.UUID;

/** A body of parts (RFC 7578), each with the media type that its operation says. Confined. */
final class Multipart {
  private final String boundary = "part-" + UUID.randomUUID();
  private final Buffer body = Buffer.buffer();

  /** A field of a form. */
  void field(String name, String type, String value) {
    part("form-data; name=\"" + quoted(name) + "\"", type, Buffer.buffer(value));
  }

  /** A file, which many servers only know by a file's name. */
  void file(String name, String type, Buffer bytes) {
    String quoted = quoted(name);
    part("form-data; name=\"" + quoted + "\"; filename=\"" + quoted + "\"", type, bytes);
  }

  private void part(String disposition, String type, Buffer bytes) {
    body.appendString("--" + boundary + "\r\ncontent-disposition: " + disposition + "\r\n")
        .appendString("content-type: " + type + "\r\n\r\n")
        .appendBuffer(bytes)
        .appendString("\r\n");
  }

  /** HTML section 4.10.21.8: these three are escaped, and nothing else is. */
  private static String quoted(String name) {
    return name.replace("\n", "%0A").replace("\r", "%0D").replace("\"", "%22");
  }

  /**
   * @param of the kind of parts, as {@code multipart/form-data}
   */
  String type(String of) {
    return of + "; boundary=" + boundary;
  }

  Buffer done() {
    return body.appendString("--" + boundary + "--\r\n");
  }
}
