/**
 * The gate: who may run what, and what waits for a human.
 *
 * <p>{@link dev.mcpbridge.risk.RiskPolicy} and {@link dev.mcpbridge.risk.Confirmations} know
 * nothing of Vert.x; {@link dev.mcpbridge.risk.RiskVerticle} gives them an address.
 */
package dev.mcpbridge.risk;
