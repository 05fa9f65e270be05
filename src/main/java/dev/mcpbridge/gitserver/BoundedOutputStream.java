package dev.mcpbridge.gitserver;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Stores a limited number of bytes; a write beyond the limit fails. */
final class BoundedOutputStream extends OutputStream {
  private final ByteArrayOutputStream stored = new ByteArrayOutputStream();
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
    int fits = Math.min(length, max - stored.size());
    stored.write(bytes, offset, fits);
    if (fits < length) {
      throw new FullException();
    }
  }

  String text() {
    return stored.toString(StandardCharsets.UTF_8);
  }

  /** The limit is exceeded. Has no stack trace. */
  static final class FullException extends IOException {
    private static final long serialVersionUID = 1L;

    FullException() {
      super("The output limit is exceeded");
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
