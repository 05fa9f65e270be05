package dev.mcpbridge.pins;

/**
 * A person's decision about a definition.
 *
 * @param digest of the definition that was shown to the person
 */
public record PinDecision(Definition.Name name, boolean isApproval, String digest) {}
