package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.error.ErrorCode;

/** Prints responses of the bridge and maps them to exit codes. */
final class ResponsePrinter {
  private ResponsePrinter() {}

  static int print(BridgeHttp.Response response) {
    JsonNode body = response.body();
    if (!response.ok()) {
      boolean wantsKey = response.status() == ErrorCode.UNAUTHENTICATED.status();
      System.err.println(
          response.status()
              + " "
              + body.path("detail").asText("no detail")
              + (wantsKey ? "; set it in MCP_BRIDGE_KEY, or run mcp-bridge login" : ""));
      body.path("errors").forEach(error -> System.err.println("  " + error.asText()));
      return Main.FAILED;
    }
    System.out.println(body.toPrettyString());
    if (body.path("requires_confirmation").asBoolean()) {
      System.err.println(
          "Confirm with: mcp-bridge confirm "
              + body.path("confirmation_id").asText()
              + (body.has("token") ? " --token " + body.path("token").asText() : ""));
      return Main.NEEDS_CONFIRMATION;
    }
    return body.path("isError").asBoolean() ? Main.FAILED : 0;
  }
}
