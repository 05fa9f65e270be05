package dev.mcpbridge.config;

import dev.mcpbridge.model.DestructiveToolPolicy;
import dev.mcpbridge.model.RiskLevel;

/**
 * The gate.
 *
 * @param defaultLevel of servers that have none; null for the original's "ungated"
 * @param destructiveToolPolicy whether {@code destructiveHint: true} raises a level to 2; null for
 *     where something was said about risk
 * @param operatorApproves whether another principal than the caller decides
 * @param requireToken whether the id alone confirms nothing
 * @param expiryMillis life of a confirmation
 * @param pendingStatus HTTP status of the answer that asks for one: 200 as in the original, or 202
 */
public record RiskConfig(
    RiskLevel defaultLevel,
    DestructiveToolPolicy destructiveToolPolicy,
    boolean operatorApproves,
    boolean requireToken,
    long expiryMillis,
    int pendingStatus) {}
