package dev.mcpbridge.gitserver;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Keeps so many bytes, and stops its writer at the next one. */
final class BoundedOutputStream extends OutputStream {
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private final int max;

  BoundedOutputStream(int max) {
    this.max = max;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    int fits = Math.min(length, max - kept.size());
    kept.write(bytes, offset, fits);
    if (fits < length) {
      throw new FullException();
    }
  }

  String text() {
    return kept.toString(StandardCharsets.UTF_8);
  }

  /** There is more than is kept. Stackless. */
  static final class FullException extends IOException {
    private static final long serialVersionUID = 1L;

    FullException() {
      super("There is more than is kept");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
