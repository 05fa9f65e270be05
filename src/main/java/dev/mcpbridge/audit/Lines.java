package dev.mcpbridge.audit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Splits a file into lines as bytes, since a line may end within a character. Stateless. */
final class Lines {
  private Lines() {}

  /**
   * The next line with its line feed, or without one at the end of the file.
   *
   * @param maxBytes after which a line is cut; the result is longer than that then
   * @return null at the end
   */
  static byte[] next(InputStream in, int maxBytes) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(1024);
    int b = in.read();
    while (b >= 0 && b != '\n' && line.size() <= maxBytes) {
      line.write(b);
      b = in.read();
    }
    if (b >= 0) {
      line.write(b);
    }
    return line.size() == 0 ? null : line.toByteArray();
  }
}
