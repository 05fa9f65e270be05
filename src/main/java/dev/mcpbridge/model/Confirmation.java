package dev.mcpbridge.model;

/**
 * A call that waits for a human.
 *
 * @param id 128 random bits, also the id of its call; possession alone approves nothing unless the
 *     operator says so
 * @param definitionDigest the tool's definition and the program behind its server, at the time of
 *     asking
 * @param digest SHA-256 over server, target, definition, program, arguments and what else the
 *     client sent: what an approval covers
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
