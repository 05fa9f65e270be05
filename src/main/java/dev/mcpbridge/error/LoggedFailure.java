package dev.mcpbridge.error;

/**
 * What the log has about a call that failed: one line of text, or the members of a JSON object.
 *
 * @param target name of the tool or prompt, or URI of the resource
 * @param traceId null for a call without a trace
 * @param spanId the span that has caused the call; null without a trace
 */
public record LoggedFailure(
    String server,
    String target,
    String callId,
    String traceId,
    String spanId,
    ErrorCode code,
    String detail) {

  @Override
  public String toString() {
    return "server=" + server + " code=" + code.slug() + " call=" + callId + " detail=" + detail;
  }
}
