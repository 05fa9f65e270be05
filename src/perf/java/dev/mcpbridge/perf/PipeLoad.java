package dev.mcpbridge.perf;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** A client directly on the upstream's pipes, with a fixed number of requests in flight. */
final class PipeLoad {
  private static final int ID_AT = "{\"jsonrpc\":\"2.0\",\"id\":".length();

  private final Process upstream;
  private final int outstanding;
  private final byte[][] requests;
  private final long[] sentNanos;
  private Samples samples = new Samples();

  PipeLoad(Process upstream, int outstanding, String tool, String arguments) {
    this.upstream = upstream;
    this.outstanding = outstanding;
    this.sentNanos = new long[outstanding];
    this.requests = new byte[outstanding][];
    for (int i = 0; i < outstanding; i++) {
      requests[i] =
          ("{\"jsonrpc\":\"2.0\",\"id\":"
                  + i
                  + ",\"method\":\"tools/call\",\"params\":{\"name\":\""
                  + tool
                  + "\",\"arguments\":"
                  + arguments
                  + "}}\n")
              .getBytes(StandardCharsets.US_ASCII);
    }
  }

  Samples run(double warmUpSeconds, double seconds) throws IOException {
    OutputStream out = upstream.getOutputStream();
    for (int i = 0; i < outstanding; i++) {
      send(out, i);
    }
    out.flush();
    loop(out, warmUpSeconds);
    samples = new Samples();
    long from = System.nanoTime();
    loop(out, seconds);
    return samples.finish(System.nanoTime() - from);
  }

  private void loop(OutputStream out, double seconds) throws IOException {
    InputStream in = upstream.getInputStream();
    byte[] buffer = new byte[1 << 16];
    byte[] line = new byte[1 << 16];
    int length = 0;
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end) {
      int n = in.read(buffer);
      for (int i = 0; i < n; i++) {
        if (buffer[i] == '\n') {
          int id = id(line);
          samples.add(System.nanoTime() - sentNanos[id]);
          send(out, id);
          length = 0;
        } else {
          line[length++] = buffer[i];
        }
      }
      out.flush();
    }
  }

  private void send(OutputStream out, int id) throws IOException {
    sentNanos[id] = System.nanoTime();
    out.write(requests[id]);
  }

  private static int id(byte[] line) {
    int id = 0;
    for (int i = ID_AT; line[i] >= '0' && line[i] <= '9'; i++) {
      id = id * 10 + line[i] - '0';
    }
    return id;
  }
}
