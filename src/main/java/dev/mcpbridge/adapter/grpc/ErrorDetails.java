package dev.mcpbridge.adapter.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import dev.mcpbridge.error.BridgeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Decodes the details of a status (AIP-193). Immutable. */
final class ErrorDetails {
  private static final String RETRY_INFO = "/google.rpc.RetryInfo";
  private static final int MAX_DETAILS = 20;
  private static final int MAX_TEXT = 10_000;
  private static final long MAX_RETRY_SECONDS = 3_600;

  private final JsonFormat.Printer printer;

  ErrorDetails(TypeRegistry registry) {
    this.printer =
        JsonFormat.printer().usingTypeRegistry(registry).omittingInsignificantWhitespace();
  }

  /** The details as JSON; of one that is not known or too long only its type. */
  List<String> texts(GrpcStatus status) {
    List<String> texts = new ArrayList<>();
    for (byte[] detail : status.details().stream().limit(MAX_DETAILS).toList()) {
      try {
        Any any = Any.parseFrom(detail);
        texts.add(text(any));
      } catch (InvalidProtocolBufferException e) {
        texts.add("(a detail that cannot be read)");
      }
    }
    return texts;
  }

  private String text(Any any) {
    try {
      BoundedText text = new BoundedText(MAX_TEXT);
      printer.appendTo(any, text);
      return text.toString();
    } catch (IOException | IllegalArgumentException | BridgeException e) {
      return "(" + any.getTypeUrl() + ")";
    }
  }

  /** Milliseconds after which a retry may succeed; 0 if the server does not tell. */
  static long retryMillis(GrpcStatus status) {
    for (byte[] detail : status.details()) {
      try {
        Any any = Any.parseFrom(detail);
        if (any.getTypeUrl().endsWith(RETRY_INFO)) {
          for (byte[] delay : WireFields.of(any.getValue().toByteArray(), 1)) {
            long seconds = Math.min(WireFields.number(delay, 1), MAX_RETRY_SECONDS);
            return Math.max(0, seconds * 1_000 + WireFields.number(delay, 2) / 1_000_000);
          }
        }
      } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
        return 0;
      }
    }
    return 0;
  }
}
