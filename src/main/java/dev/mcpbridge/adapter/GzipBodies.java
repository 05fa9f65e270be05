package dev.mcpbridge.adapter;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.transport.ClientResponse;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Locale;
import java.util.zip.GZIPInputStream;

/** Bodies with a content coding (RFC 9110 section 8.4), of which only gzip is known. Stateless. */
final class GzipBodies {
  static final String ACCEPTED = "gzip";

  private GzipBodies() {}

  /**
   * What a body holds. Blocks for as long as that takes.
   *
   * @param coding the value of Content-Encoding, null for none
   * @param max bytes of what it may hold
   * @throws BridgeException UPSTREAM_ERROR for a body that is broken off or of another coding,
   *     RESPONSE_TOO_LARGE
   */
  static Buffer plain(Buffer body, String coding, int max) {
    if (!isCoded(coding) || body.length() == 0) {
      return body;
    }
    String known = coding.strip().toLowerCase(Locale.ROOT);
    if (!known.equals("gzip") && !known.equals("x-gzip")) {
      throw failed("The answer is in the content coding " + coding + ", which nobody asked for");
    }
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(body.getBytes()))) {
      byte[] plain = in.readNBytes(max + 1);
      if (plain.length > max) {
        throw ClientResponse.tooLarge(max);
      }
      return Buffer.buffer(plain);
    } catch (IOException e) {
      throw failed("The answer is broken: it is no whole gzip (" + e.getMessage() + ")");
    }
  }

  static boolean isCoded(String coding) {
    return coding != null && !coding.isBlank() && !coding.strip().equalsIgnoreCase("identity");
  }

  private static BridgeException failed(String why) {
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, why).withExecuted(Executed.YES);
  }
}
