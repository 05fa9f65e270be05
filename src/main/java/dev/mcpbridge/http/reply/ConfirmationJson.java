package dev.mcpbridge.http.reply;

import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.time.Instant;

/** How a call that waits for a human is shown. */
public final class ConfirmationJson {
  private ConfirmationJson() {}

  /** To its caller, with the token where the caller may decide. */
  public static JsonSlice pending(PendingConfirmation pending) {
    JsonWriter out = new JsonWriter().beginObject();
    describe(out, pending.confirmation());
    if (pending.token() != null) {
      out.member("token", pending.token());
    }
    return out.endObject().toSlice();
  }

  /** What a human has to see before deciding: the original's fields, arguments and digest. */
  public static void describe(JsonWriter out, Confirmation confirmation) {
    out.member("requires_confirmation", true)
        .member("confirmation_id", confirmation.id())
        .member("risk_level", confirmation.level().number())
        .member("risk_description", confirmation.level().description())
        .member("server_id", confirmation.call().server().name())
        .member("method", confirmation.call().target().kind().method())
        .member("tool_name", confirmation.call().target().name())
        .member("expires_at", Instant.ofEpochMilli(confirmation.expiresAtMillis()).toString())
        .member("arguments", confirmation.call().arguments())
        .member("digest", confirmation.digest());
  }
}
