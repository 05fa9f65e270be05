package dev.mcpbridge.config;

import dev.mcpbridge.model.DestructiveToolPolicy;
import dev.mcpbridge.model.RiskLevel;

/**
 * Configuration of the gate.
 *
 * @param defaultLevel level of servers without one; null for none, as in the original
 * @param destructiveToolPolicy whether {@code destructiveHint: true} raises a level to 2; null to
 *     raise it only if the server has a level or rules, or there is a default level
 * @param operatorApproves whether a principal other than the caller decides
 * @param requireToken whether a confirmation needs its token; otherwise the id alone confirms
 * @param expiryMillis lifetime of a confirmation
 * @param pendingStatus HTTP status if a call needs a confirmation: 200 as in the original, or 202
 */
public record RiskConfig(
    RiskLevel defaultLevel,
    DestructiveToolPolicy destructiveToolPolicy,
    boolean operatorApproves,
    boolean requireToken,
    long expiryMillis,
    int pendingStatus) {}
