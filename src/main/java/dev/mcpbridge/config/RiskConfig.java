package dev.mcpbridge.config;

import dev.mcpbridge.model.RiskLevel;

/**
 * The gate.
 *
 * @param defaultLevel of servers that have none; null for the original's "ungated"
 * @param annotationsRaise whether {@code destructiveHint: true} raises a server's level to 2
 * @param operatorApproves whether another principal than the caller decides
 * @param requireToken whether the id alone confirms nothing
 * @param expiryMillis life of a confirmation
 * @param pendingStatus HTTP status of the answer that asks for one: 200 as in the original, or 202
 */
public record RiskConfig(
    RiskLevel defaultLevel,
    boolean annotationsRaise,
    boolean operatorApproves,
    boolean requireToken,
    long expiryMillis,
    int pendingStatus) {}
