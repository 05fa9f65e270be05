package dev.mcpbridge.model;

/**
 * A call that waits for the decision of a human.
 *
 * @param id 128 random bits, also the id of its call; knowing it is not enough to approve the call
 *     unless the operator allows that
 * @param definitionDigest the tool's definition and the program of its server when the confirmation
 *     was requested
 * @param digest what an approval covers: SHA-256 over server, target, definition, program,
 *     arguments and what else the client sent
 * @param expiresAtMillis wall clock
 */
public record Confirmation(
    String id,
    Call call,
    RiskLevel level,
    String definitionDigest,
    String digest,
    long createdAtMillis,
    long expiresAtMillis) {}
