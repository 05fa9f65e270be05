package dev.mcpbridge.model;

import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.stream.Stream;

/**
 * Something that people outside of the bridge want to know about, reported once by the node at
 * which it happened.
 *
 * @param source the caller or server that is the reason for it
 * @param data one JSON object without secrets and without the arguments of a call
 * @param arguments of the call that it is about; null if it is not about a call
 */
public record Notice(Type type, String source, JsonSlice data, JsonSlice arguments) {

  /** Texts of callers and servers are cut to this length, in characters. */
  public static final int MAX_TEXT = 2_048;

  /** What has happened. The names are part of the API. */
  public enum Type {
    CONFIRMATION_PENDING("confirmation.pending"),
    CONFIRMATION_APPROVED("confirmation.approved"),
    CONFIRMATION_REJECTED("confirmation.rejected"),
    CONFIRMATION_EXPIRED("confirmation.expired"),
    DEFINITIONS_CHANGED("definitions.changed"),
    SERVER_FAILED("server.failed"),
    SERVER_RECOVERED("server.recovered"),
    AUDIT_CHECKPOINT("audit.checkpoint");

    private final String apiName;

    Type(String apiName) {
      this.apiName = apiName;
    }

    public String apiName() {
      return apiName;
    }

    /** The names of all types. */
    public static List<String> apiNames() {
      return Stream.of(values()).map(Type::apiName).toList();
    }
  }
}
