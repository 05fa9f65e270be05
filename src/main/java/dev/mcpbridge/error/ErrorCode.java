package dev.mcpbridge.error;

/**
 * The errors that the bridge returns: slug, HTTP status (RFC 9110), JSON-RPC code, and whether a
 * retry of the same request may succeed.
 *
 * <p>JSON-RPC codes outside the reserved range −32768…−32000 are defined by the bridge, as the MCP
 * base page requires for errors that the peer did not send.
 */
public enum ErrorCode {
  MALFORMED_REQUEST("malformed_request", 400, -32600, false),
  PARSE_ERROR("parse_error", 400, -32700, false),
  INVALID_PARAMS("invalid_params", 400, -32602, false),
  HEADER_MISMATCH("header_mismatch", 400, -32020, false),
  MISSING_CAPABILITY("missing_client_capability", 400, -32021, false),
  UNSUPPORTED_VERSION("unsupported_protocol_version", 400, -32022, false),
  UNAUTHENTICATED("unauthenticated", 401, 401, false),
  FORBIDDEN("forbidden", 403, 403, false),
  INSUFFICIENT_SCOPE("insufficient_scope", 403, 403, false),
  CONSENT_REQUIRED("consent_required", 403, 403, true),
  URL_ELICITATION_REQUIRED("url_elicitation_required", 403, -32042, true),
  HOST_NOT_ALLOWED("host_not_allowed", 403, 403, false),
  ORIGIN_NOT_ALLOWED("origin_not_allowed", 403, 403, false),
  WRONG_TOKEN("wrong_token", 403, 403, false),
  NOT_FOUND("not_found", 404, 404, false),
  METHOD_NOT_FOUND("method_not_found", 404, -32601, false),
  SESSION_NOT_FOUND("session_not_found", 404, 404, false),
  SERVER_NOT_FOUND("server_not_found", 404, -32602, false),
  PROFILE_NOT_FOUND("profile_not_found", 404, -32602, false),
  TOOL_NOT_FOUND("tool_not_found", 404, -32602, false),
  CONFIRMATION_NOT_FOUND("confirmation_not_found", 404, 404, false),
  CALL_NOT_FOUND("call_not_found", 404, 404, false),
  METHOD_NOT_ALLOWED("method_not_allowed", 405, -32601, false),
  NOT_ACCEPTABLE("not_acceptable", 406, 406, false),
  REQUEST_TIMEOUT("request_timeout", 408, 408, true),
  SERVER_EXISTS("server_exists", 409, 409, false),
  TOOL_CHANGED("tool_changed", 409, 409, false),
  DEFINITION_CHANGED("definition_changed", 409, 409, false),
  VOTERS_UNCHANGED("voters_unchanged", 409, 409, false),
  IDEMPOTENCY_IN_PROGRESS("idempotency_in_progress", 409, 409, true),
  CONFIRMATION_EXPIRED("confirmation_expired", 410, 410, false),
  OUTCOME_NOT_KEPT("outcome_not_kept", 410, 410, false),
  TOO_LARGE("too_large", 413, 413, false),
  URI_TOO_LONG("uri_too_long", 414, 414, false),
  UNSUPPORTED_MEDIA_TYPE("unsupported_media_type", 415, 415, false),
  EXPECTATION_FAILED("expectation_failed", 417, 417, false),
  INVALID_ARGUMENTS("invalid_arguments", 422, -32602, false),
  UNCHECKED("unchecked_arguments", 422, -32602, false),
  INVALID_SERVER("invalid_server", 422, 422, false),
  IMAGE_NOT_FOUND("image_not_found", 422, 422, false),
  IDEMPOTENCY_MISMATCH("idempotency_mismatch", 422, 422, false),
  SKIPPED("skipped", 424, 424, true),
  RATE_LIMITED("rate_limited", 429, 429, true),
  HEADERS_TOO_LARGE("headers_too_large", 431, 431, false),
  CANCELLED("cancelled", 499, 499, false),
  INTERNAL("internal_error", 500, -32603, false),
  UPSTREAM_CRASHED("upstream_crashed", 502, 502, false),
  UPSTREAM_ERROR("upstream_error", 502, 502, false),
  UPSTREAM_PROTOCOL_ERROR("upstream_protocol_error", 502, 502, false),
  RESPONSE_TOO_LARGE("response_too_large", 502, 502, false),
  START_FAILED("start_failed", 502, 502, false),
  SANDBOX_OUT_OF_MEMORY("sandbox_out_of_memory", 502, 502, false),
  SANDBOX_FAILED("sandbox_failed", 502, 502, false),
  NODE_LOST("node_lost", 502, 502, false),
  SERVER_UNAVAILABLE("server_unavailable", 503, 503, true),
  QUEUE_FULL("queue_full", 503, 503, true),
  OVERLOADED("overloaded", 503, 503, true),
  NODE_UNREACHABLE("node_unreachable", 503, 503, true),
  NOT_OWNER("not_owner", 503, 503, true),
  NO_QUORUM("no_quorum", 503, 503, true),
  ISSUER_UNAVAILABLE("issuer_unavailable", 503, 503, true),
  AUDIT_UNAVAILABLE("audit_unavailable", 503, 503, true),
  ISOLATION_UNAVAILABLE("isolation_unavailable", 503, 503, false),
  SANDBOX_TIMEOUT("sandbox_timeout", 504, 504, false),
  DEADLINE_EXCEEDED("deadline_exceeded", 504, 504, true),
  LOOP_DETECTED("loop_detected", 508, 508, false);

  private final String slug;
  private final int status;
  private final int rpcCode;
  private final boolean retryable;

  ErrorCode(String slug, int status, int rpcCode, boolean retryable) {
    this.slug = slug;
    this.status = status;
    this.rpcCode = rpcCode;
    this.retryable = retryable;
  }

  /** The code with the slug; INTERNAL for one of a later version. */
  public static ErrorCode of(String slug) {
    for (ErrorCode code : values()) {
      if (code.slug.equals(slug)) {
        return code;
      }
    }
    return INTERNAL;
  }

  public String slug() {
    return slug;
  }

  public int status() {
    return status;
  }

  public int rpcCode() {
    return rpcCode;
  }

  public boolean retryable() {
    return retryable;
  }
}
