/**
 * The audit trail: what was decided and what happened, as a chain of records in files that can be
 * verified. Floor 4.
 */
package dev.mcpbridge.audit;
