package dev.mcpbridge.protocol;

/**
 * One JSON-RPC 2.0 message as it was received, split into its members but not decoded.
 *
 * @param id the id as it was written (a number or a string), null for a notification
 * @param method null for responses
 * @param payload {@code result}, {@code error} or {@code params}; null if absent
 * @param wellShaped false for a result whose {@code content} is present but not an array
 */
public record RpcMessage(
    Kind kind, JsonSlice id, String method, JsonSlice payload, boolean wellShaped) {

  public RpcMessage(Kind kind, JsonSlice id, String method, JsonSlice payload) {
    this(kind, id, method, payload, true);
  }

  /** The four shapes of JSON-RPC 2.0. */
  public enum Kind {
    RESULT,
    ERROR,
    REQUEST,
    NOTIFICATION
  }

  /**
   * The id as a non-negative number, or −1 if the bridge did not assign it: the bridge numbers its
   * requests with plain integers, and {@code "1"} is not {@code 1}.
   */
  public long numericId() {
    if (id == null || id.length() == 0 || id.length() > 18) {
      return -1;
    }
    long number = 0;
    for (int i = id.from(); i < id.to(); i++) {
      int digit = id.bytes()[i] - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number;
  }
}
