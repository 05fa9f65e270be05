package dev.mcpbridge.http.reply;

import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.time.Instant;

/** JSON of confirmations. */
public final class ConfirmationJson {
  private ConfirmationJson() {}

  /** A pending confirmation for its caller, with the token if the caller may decide. */
  public static JsonSlice pending(PendingConfirmation pending) {
    JsonWriter out = new JsonWriter().beginObject();
    describe(out, pending.confirmation());
    if (pending.token() != null) {
      out.member("token", pending.token());
    }
    return out.endObject().toSlice();
  }

  /**
   * What a human must see before deciding: the fields of the original API, the arguments, the
   * digest, and anything else from an MCP client that reaches the server.
   */
  public static void describe(JsonWriter out, Confirmation confirmation) {
    out.member("requires_confirmation", true)
        .member("confirmation_id", confirmation.id())
        .member("risk_level", confirmation.level().number())
        .member("risk_description", confirmation.level().description())
        .member("server_id", confirmation.call().server().name())
        .member("method", confirmation.call().target().kind().method())
        .member("tool_name", confirmation.call().target().name())
        .member("expires_at", Instant.ofEpochMilli(confirmation.expiresAtMillis()).toString())
        .member("arguments", confirmation.call().arguments());
    Envelope envelope = confirmation.call().envelope();
    if (envelope.extras().length() > 2) {
      out.member("params", envelope.extras());
    }
    JsonSlice meta = envelope.reviewedMeta();
    if (meta.length() > 2) {
      out.member("_meta", meta);
    }
    out.member("digest", confirmation.digest());
  }

  /** A confirmation that was decided or has expired. */
  public static void closed(JsonWriter out, Confirmation confirmation) {
    out.member("requires_confirmation", false)
        .member("confirmation_id", confirmation.id())
        .member("server_id", confirmation.call().server().name())
        .member("method", confirmation.call().target().kind().method())
        .member("tool_name", confirmation.call().target().name())
        .member("expires_at", Instant.ofEpochMilli(confirmation.expiresAtMillis()).toString())
        .member("caller", confirmation.call().caller().name());
  }
}
