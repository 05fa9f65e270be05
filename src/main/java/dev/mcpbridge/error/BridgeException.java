package dev.mcpbridge.error;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The exception of the bridge: a code, a message for people, and whether the call was executed. It
 * has no stack trace, since it reports an external condition and not a bug. Immutable; the {@code
 * with…} methods return copies.
 */
public final class BridgeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final Executed executed;
  private final int retryAfterSeconds;
  private final transient Map<String, Object> members;

  public BridgeException(ErrorCode code, String detail) {
    this(code, detail, null, Executed.NO, 0, Map.of());
  }

  public BridgeException(ErrorCode code, String detail, Throwable cause) {
    this(code, detail, cause, Executed.NO, 0, Map.of());
  }

  private BridgeException(
      ErrorCode code,
      String detail,
      Throwable cause,
      Executed executed,
      int retryAfterSeconds,
      Map<String, Object> members) {
    super(detail, cause, false, false);
    this.code = code;
    this.executed = executed;
    this.retryAfterSeconds = retryAfterSeconds;
    this.members = members;
  }

  /** Converts any failure. An unexpected one may have had an effect. */
  public static BridgeException of(Throwable cause) {
    return cause instanceof BridgeException error
        ? error
        : new BridgeException(ErrorCode.INTERNAL, "Internal error", cause)
            .withExecuted(Executed.UNKNOWN);
  }

  public BridgeException withExecuted(Executed newExecuted) {
    return new BridgeException(
        code, getMessage(), getCause(), newExecuted, retryAfterSeconds, members);
  }

  /** The same failure with a prefix added to its message. */
  public BridgeException prefixed(String prefix) {
    return new BridgeException(
        code, prefix + getMessage(), getCause(), executed, retryAfterSeconds, members);
  }

  /** The same failure with a cause, which its receiver does not learn. */
  public BridgeException because(Throwable cause) {
    return new BridgeException(code, getMessage(), cause, executed, retryAfterSeconds, members);
  }

  /** Sets the time after which a retry may succeed; at least one second on the wire. */
  public BridgeException withRetryAfter(long millis) {
    int seconds = (int) Math.min(3600, Math.max(1, (millis + 999) / 1000));
    return new BridgeException(code, getMessage(), getCause(), executed, seconds, members);
  }

  /**
   * Adds an extension member of the problem document (RFC 9457 section 3.2).
   *
   * @param value a string, number, boolean, list or map of these, or a JSON slice
   */
  public BridgeException with(String member, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(members);
    more.put(member, value);
    return new BridgeException(code, getMessage(), getCause(), executed, retryAfterSeconds, more);
  }

  public ErrorCode code() {
    return code;
  }

  public Executed executed() {
    return executed;
  }

  /** Seconds for {@code Retry-After}, or 0 if unknown. */
  public int retryAfterSeconds() {
    return retryAfterSeconds;
  }

  public Map<String, Object> members() {
    return members;
  }
}
