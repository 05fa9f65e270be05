package dev.mcpbridge.adapter.grpc;

import io.vertx.core.MultiMap;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * How a call ended (gRPC over HTTP/2, "Responses"; gRPC status codes).
 *
 * @param message for people; may be empty
 * @param details serialized {@code google.protobuf.Any} messages
 * @param isDerived whether the server has sent none, so that it follows from HTTP
 */
record GrpcStatus(int code, String message, List<byte[]> details, boolean isDerived) {
  static final int OK = 0;
  static final int UNKNOWN = 2;
  static final int DEADLINE_EXCEEDED = 4;
  static final int UNIMPLEMENTED = 12;
  static final int UNAVAILABLE = 14;

  private static final int MAX_MESSAGE = 4_000;
  private static final List<String> NAMES =
      List.of(
          "OK",
          "CANCELLED",
          "UNKNOWN",
          "INVALID_ARGUMENT",
          "DEADLINE_EXCEEDED",
          "NOT_FOUND",
          "ALREADY_EXISTS",
          "PERMISSION_DENIED",
          "RESOURCE_EXHAUSTED",
          "FAILED_PRECONDITION",
          "ABORTED",
          "OUT_OF_RANGE",
          "UNIMPLEMENTED",
          "INTERNAL",
          "UNAVAILABLE",
          "DATA_LOSS",
          "UNAUTHENTICATED");

  static GrpcStatus of(int code, String message) {
    return new GrpcStatus(code, message, List.of(), false);
  }

  /** The status in headers or trailers; null if there is no status. */
  static GrpcStatus in(MultiMap fields) {
    String status = fields.get("grpc-status");
    if (status == null) {
      return null;
    }
    int code = status.matches("\\d{1,3}") ? Integer.parseInt(status) : UNKNOWN;
    String message = fields.get("grpc-message");
    return new GrpcStatus(
        code < NAMES.size() ? code : UNKNOWN,
        message == null ? "" : decoded(message),
        details(fields.get("grpc-status-details-bin")),
        false);
  }

  /** The status of a response without one (gRPC, "HTTP to gRPC Status Code Mapping"). */
  static GrpcStatus ofHttp(int httpStatus, String contentType) {
    int code =
        switch (httpStatus) {
          case 400 -> 13;
          case 401 -> 16;
          case 403 -> 7;
          case 404 -> UNIMPLEMENTED;
          case 429, 502, 503, 504 -> UNAVAILABLE;
          default -> UNKNOWN;
        };
    return new GrpcStatus(
        code,
        "the response has no gRPC status, but HTTP "
            + httpStatus
            + (contentType == null ? "" : " and the type " + contentType),
        List.of(),
        true);
  }

  /** The status for a stream that the server has reset (gRPC over HTTP/2, "Errors"). */
  static GrpcStatus ofReset(long http2Code) {
    int code =
        switch ((int) http2Code) {
          case 7 -> UNAVAILABLE;
          case 8 -> 1;
          case 11 -> 8;
          case 12 -> 7;
          default -> 13;
        };
    return of(code, "the server reset the stream with code " + http2Code);
  }

  boolean isOk() {
    return code == OK;
  }

  String name() {
    return NAMES.get(code);
  }

  /** Percent-encoded UTF-8; whatever is not valid stays as it is. */
  private static String decoded(String text) {
    String bounded = text.length() > MAX_MESSAGE ? text.substring(0, MAX_MESSAGE) : text;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(bounded.length());
    for (int i = 0; i < bounded.length(); i++) {
      char c = bounded.charAt(i);
      int high = c == '%' && i + 2 < bounded.length() ? digit(bounded.charAt(i + 1)) : -1;
      int low = high < 0 ? -1 : digit(bounded.charAt(i + 2));
      if (low >= 0) {
        bytes.write(high << 4 | low);
        i += 2;
      } else {
        bytes.write(c);
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static int digit(char c) {
    return c < 128 ? Character.digit(c, 16) : -1;
  }

  /** The details of a {@code google.rpc.Status}; those that cannot be read are left out. */
  private static List<byte[]> details(String base64) {
    if (base64 == null) {
      return List.of();
    }
    try {
      return WireFields.of(Base64.getDecoder().decode(base64.replace("=", "")), 3);
    } catch (IllegalArgumentException e) {
      return List.of();
    }
  }
}
