package dev.mcpbridge.transport;

import java.io.IOException;
import java.io.InputStream;

/**
 * Reads a child's stderr to its end, so that the child never blocks on it. Runs on its own thread.
 *
 * @param ended callback, run on the reading thread at the end of the stream
 */
record StderrReader(InputStream stderr, StderrLines lines, Runnable ended) implements Runnable {

  @Override
  public void run() {
    byte[] buffer = new byte[8192];
    try (stderr) {
      for (int n = stderr.read(buffer); n >= 0; n = stderr.read(buffer)) {
        lines.feed(buffer, n);
      }
    } catch (IOException e) {
      // the process has ended; the output read so far is kept
    }
    lines.end();
    ended.run();
  }
}
