package dev.mcpbridge.adapter.openapi;

import io.vertx.core.buffer.Buffer;
import java.util.UUID;

/** A multipart body (RFC 7578). Confined. */
final class Multipart {
  private final String boundary = "part-" + UUID.randomUUID();
  private final Buffer body = Buffer.buffer();

  /** Adds a form field. */
  void field(String name, String type, String value) {
    part("form-data; name=\"" + quoted(name) + "\"", type, Buffer.buffer(value));
  }

  /** Adds a file, with a file name, without which many servers do not recognise it as a file. */
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

  /** Escapes exactly the three characters of HTML section 4.10.21.8. */
  private static String quoted(String name) {
    return name.replace("\n", "%0A").replace("\r", "%0D").replace("\"", "%22");
  }

  /**
   * @param mediaType the media type, such as {@code multipart/form-data}
   */
  String type(String mediaType) {
    return mediaType + "; boundary=" + boundary;
  }

  Buffer done() {
    return body.appendString("--" + boundary + "--\r\n");
  }
}
