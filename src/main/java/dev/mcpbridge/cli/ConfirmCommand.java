package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.PercentEncoding;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Approves or rejects a pending call, or lists the pending calls. */
@Command(
    name = "confirm",
    description = "Approve or reject a pending call; without an id, list the pending calls.",
    mixinStandardHelpOptions = true)
final class ConfirmCommand implements Callable<Integer> {
  @Mixin private BridgeClient bridge;

  @Parameters(arity = "0..1", paramLabel = "ID", description = "The confirmation's id.")
  private String id;

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      description = "The token that came with the confirmation.")
  private String token;

  @Option(names = "--reject", description = "Reject the call.")
  private boolean reject;

  @Override
  public Integer call() throws Exception {
    if (id == null) {
      return ResponsePrinter.print(bridge.get("/confirmations"));
    }
    ObjectNode decision = Json.object().put("confirm", !reject);
    if (token != null) {
      decision.put("token", token);
    }
    return ResponsePrinter.print(
        bridge.post("/confirmations/" + PercentEncoding.encoded(id), decision.toString()));
  }
}
