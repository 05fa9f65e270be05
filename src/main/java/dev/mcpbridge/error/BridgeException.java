package dev.mcpbridge.error;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The one exception of the bridge: a code, a sentence for the human, and what is known of the
 * call's effect. Stackless, since it reports a condition of the outside world and not a bug.
 * Immutable; the {@code with…} methods return copies.
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

  /** Any failure as one of the bridge; what nobody foresaw may have had an effect. */
  public static BridgeException of(Throwable cause) {
    return cause instanceof BridgeException known
        ? known
        : new BridgeException(ErrorCode.INTERNAL, "Internal error", cause)
            .withExecuted(Executed.UNKNOWN);
  }

  public BridgeException withExecuted(Executed known) {
    return new BridgeException(code, getMessage(), getCause(), known, retryAfterSeconds, members);
  }

  /** The same failure with a few words in front of its sentence. */
  public BridgeException prefixed(String words) {
    return new BridgeException(
        code, words + getMessage(), getCause(), executed, retryAfterSeconds, members);
  }

  /** Says when a repetition may succeed; at least one second on the wire. */
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

  /** Seconds for {@code Retry-After}, or 0 where the bridge knows none. */
  public int retryAfterSeconds() {
    return retryAfterSeconds;
  }

  public Map<String, Object> members() {
    return members;
  }
}
