package dev.mcpbridge.pins;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.HiddenCharacters;

/**
 * A person's decision about a definition.
 *
 * @param digest of the definition that was shown to the person
 */
public record PinDecision(Definition.Name name, boolean isApproval, String digest) {

  /** The server does not define it, or not to this caller. */
  public BridgeException notFound(ServerId server) {
    return new BridgeException(
        ErrorCode.NOT_FOUND,
        HiddenCharacters.escaped("Server '" + server + "' has no definition of " + name));
  }
}
