package dev.mcpbridge.protocol;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Parses JSON-RPC envelopes: finds {@code id}, {@code method} and the payload in a line and leaves
 * the payload as bytes. The whole line is validated, so a payload is always valid JSON. Not
 * thread-safe.
 */
public final class RpcReader implements JsonScanner.MemberVisitor {
  private static final byte[] ID = ascii("id");
  private static final byte[] METHOD = ascii("method");
  private static final byte[] RESULT = ascii("result");
  private static final byte[] CONTENT = ascii("content");
  private static final byte[] ERROR = ascii("error");
  private static final byte[] PARAMS = ascii("params");

  private final JsonScanner scanner;
  private byte[] line;
  private JsonSlice id;
  private JsonSlice method;
  private JsonSlice result;
  private JsonSlice error;
  private JsonSlice params;
  private boolean contentIsInvalid;

  public RpcReader(int maxDepth) {
    scanner = JsonScanner.transit(maxDepth);
  }

  /** Reads one message; throws if the text is not one. */
  public RpcMessage read(byte[] text, int from, int to) throws JsonSyntaxException {
    line = text;
    id = method = result = error = params = null;
    contentIsInvalid = false;
    scanner.object(text, from, to, this);
    line = null;
    return classify(from);
  }

  private RpcMessage classify(int from) throws JsonSyntaxException {
    if (method != null) {
      boolean request = id != null;
      return new RpcMessage(
          request ? RpcMessage.Kind.REQUEST : RpcMessage.Kind.NOTIFICATION,
          id,
          unquote(method),
          params);
    }
    if (result != null && error == null) {
      return new RpcMessage(RpcMessage.Kind.RESULT, id, null, result, !contentIsInvalid);
    }
    if (error != null && result == null) {
      return new RpcMessage(RpcMessage.Kind.ERROR, id, null, error);
    }
    throw new JsonSyntaxException("neither a request, a notification nor a response", from);
  }

  @Override
  public void member(int nameFrom, int nameTo, int valueFrom, int valueTo) {
    JsonSlice value = new JsonSlice(line, valueFrom, valueTo);
    if (is(RESULT, nameFrom, nameTo)) {
      result = value;
    } else if (is(ID, nameFrom, nameTo)) {
      id = line[valueFrom] == 'n' ? null : value;
    } else if (is(PARAMS, nameFrom, nameTo)) {
      params = value;
    } else if (is(METHOD, nameFrom, nameTo)) {
      method = line[valueFrom] == '"' ? value : null;
    } else if (is(ERROR, nameFrom, nameTo)) {
      error = value;
    }
  }

  @Override
  public JsonScanner.MemberVisitor inside(int nameFrom, int nameTo) {
    return is(RESULT, nameFrom, nameTo) ? this::resultMember : null;
  }

  private void resultMember(int nameFrom, int nameTo, int valueFrom, int valueTo) {
    if (is(CONTENT, nameFrom, nameTo)) {
      contentIsInvalid = line[valueFrom] != '[';
    }
  }

  private boolean is(byte[] name, int from, int to) {
    return Arrays.equals(name, 0, name.length, line, from, to);
  }

  private static String unquote(JsonSlice string) {
    return new String(
        string.bytes(), string.from() + 1, string.length() - 2, StandardCharsets.UTF_8);
  }

  /**
   * Looks for a numeric id in the first and last bytes of a line that was too long to buffer. This
   * is a heuristic: it lets the right call fail immediately instead of at its deadline.
   *
   * @return the id, or −1
   */
  public static long findId(byte[] head, byte[] tail) {
    long id = idBefore(head, new String(head, StandardCharsets.ISO_8859_1).indexOf("\"id\":"));
    if (id >= 0) {
      return id;
    }
    return idBefore(tail, new String(tail, StandardCharsets.ISO_8859_1).lastIndexOf("\"id\":"));
  }

  private static long idBefore(byte[] text, int key) {
    if (key < 0) {
      return -1;
    }
    int from = key + 5;
    while (from < text.length && text[from] == ' ') {
      from++;
    }
    int to = from;
    while (to < text.length && text[to] >= '0' && text[to] <= '9') {
      to++;
    }
    return new RpcMessage(RpcMessage.Kind.RESULT, new JsonSlice(text, from, to), null, null)
        .numericId();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
