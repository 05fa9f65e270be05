package dev.mcpbridge.perf;

import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * A minimal stdio MCP server. {@code echo} returns its arguments as structured content, {@code
 * blob} returns a text of the given size. Its cost is the same for any bridge.
 */
public final class EchoUpstream {
  /** Arguments of a usual call, in JSON. */
  static final String CALL =
      "{\"text\":\"the quick brown fox jumps over the lazy dog\",\"count\":42}";

  /** Where it is called over REST. */
  static final String PATH = "/servers/echo/tools/echo";

  private static final byte[] ARGUMENTS = ascii("\"arguments\":");
  private static final byte[] META = ascii(",\"_meta\":");
  private static final byte[] ECHO =
      ascii(
          ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"structuredContent\":");
  private static final String TOOLS =
      "{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
          + "\"text\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\",\"minimum\":0},"
          + "\"flags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
          + "\"place\":{\"type\":\"object\",\"properties\":{\"lat\":{\"type\":\"number\"},"
          + "\"lon\":{\"type\":\"number\"}},\"required\":[\"lat\",\"lon\"]}},"
          + "\"required\":[\"text\",\"count\"]}},"
          + "{\"name\":\"blob\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
          + "\"size\":{\"type\":\"integer\"}},\"required\":[\"size\"]}}]}";
  private static final String INITIALIZE =
      "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
          + "\"serverInfo\":{\"name\":\"echo\",\"version\":\"1\"}}";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 16);
  private byte[] blob = new byte[0];

  private EchoUpstream() {}

  /** The member {@code mcpServers} of a configuration with this server. */
  static String servers() {
    return "\"mcpServers\":{\"echo\":{\"command\":\""
        + Ladder.java()
        + "\",\"args\":[\"-XX:+UseSerialGC\",\"-cp\",\""
        + System.getProperty("java.class.path")
        + "\",\""
        + EchoUpstream.class.getName()
        + "\"]}}";
  }

  public static void main(String[] args) throws IOException {
    new EchoUpstream().serve();
  }

  private void serve() throws IOException {
    FileInputStream in = new FileInputStream(FileDescriptor.in);
    FileOutputStream stdout = new FileOutputStream(FileDescriptor.out);
    byte[] buffer = new byte[1 << 20];
    int buffered = 0;
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer, buffered, buffer.length - buffered)) {
      int end = buffered + n;
      int from = 0;
      for (int i = buffered; i < end; i++) {
        if (buffer[i] == '\n') {
          answer(buffer, from, i);
          from = i + 1;
        }
      }
      System.arraycopy(buffer, from, buffer, 0, end - from);
      buffered = end - from;
      out.writeTo(stdout);
      out.reset();
    }
  }

  private void answer(byte[] line, int from, int to) {
    int id = find(line, from, to, ascii("\"id\":"));
    if (id < 0) {
      return;
    }
    int idEnd = id;
    while (line[idEnd] >= '0' && line[idEnd] <= '9') {
      idEnd++;
    }
    out.writeBytes(ascii("{\"jsonrpc\":\"2.0\",\"id\":"));
    out.write(line, id, idEnd - id);
    int arguments = find(line, from, to, ARGUMENTS);
    if (arguments < 0) {
      boolean isInitialize = find(line, from, to, ascii("\"initialize\"")) >= 0;
      boolean isList = find(line, from, to, ascii("\"tools/list\"")) >= 0;
      String result = isInitialize ? INITIALIZE : isList ? TOOLS : "{}";
      out.writeBytes(ascii(",\"result\":" + result));
    } else if (find(line, from, arguments, ascii("\"blob\"")) >= 0) {
      blob(new String(line, arguments, to - arguments, StandardCharsets.US_ASCII));
    } else {
      int meta = find(line, arguments, to, META);
      int end = meta < 0 ? to - 2 : meta - META.length;
      out.writeBytes(ECHO);
      out.write(line, arguments, end - arguments);
      out.write('}');
    }
    out.writeBytes(ascii("}\n"));
  }

  private void blob(String arguments) {
    int size = Integer.parseInt(arguments.replaceAll("\\D", ""));
    if (blob.length != size) {
      blob = ascii("x".repeat(size));
    }
    out.writeBytes(ascii(",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""));
    out.writeBytes(blob);
    out.writeBytes(ascii("\"}]}"));
  }

  /** The index after the first match of the pattern; −1 without a match. */
  private static int find(byte[] line, int from, int to, byte[] pattern) {
    outer:
    for (int i = from; i <= to - pattern.length; i++) {
      for (int j = 0; j < pattern.length; j++) {
        if (line[i + j] != pattern[j]) {
          continue outer;
        }
      }
      return i + pattern.length;
    }
    return -1;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
