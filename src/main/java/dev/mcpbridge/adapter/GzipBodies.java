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

/** Decodes content codings of bodies (RFC 9110 section 8.4); supports only gzip. Stateless. */
final class GzipBodies {
  static final String ACCEPTED = "gzip";

  private GzipBodies() {}

  /**
   * Decompresses a body. Blocks.
   *
   * @param coding the value of Content-Encoding, null for none
   * @param max maximum size of the decompressed body in bytes
   * @throws BridgeException UPSTREAM_ERROR for an invalid or truncated body or an unsupported
   *     coding, RESPONSE_TOO_LARGE if it exceeds the maximum
   */
  static Buffer decompressed(Buffer body, String coding, int max) {
    if (!isEncoded(coding) || body.length() == 0) {
      return body;
    }
    String normalized = coding.strip().toLowerCase(Locale.ROOT);
    if (!normalized.equals("gzip") && !normalized.equals("x-gzip")) {
      throw failed("The response has the content coding " + coding + ", which was not requested");
    }
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(body.getBytes()))) {
      byte[] plain = in.readNBytes(max + 1);
      if (plain.length > max) {
        throw ClientResponse.tooLarge(max);
      }
      return Buffer.buffer(plain);
    } catch (IOException e) {
      throw failed("The response is not a complete gzip stream (" + e.getMessage() + ")");
    }
  }

  static boolean isEncoded(String coding) {
    return coding != null && !coding.isBlank() && !coding.strip().equalsIgnoreCase("identity");
  }

  private static BridgeException failed(String message) {
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, message).withExecuted(Executed.YES);
  }
}
