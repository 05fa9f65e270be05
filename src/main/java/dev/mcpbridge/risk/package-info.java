/**
 * The gate: which calls may run, and which require a human's approval.
 *
 * <p>{@link dev.mcpbridge.risk.RiskPolicy} and {@link dev.mcpbridge.risk.Confirmations} do not
 * depend on verticles; {@link dev.mcpbridge.risk.RiskVerticle} registers their addresses.
 */
package dev.mcpbridge.risk;
