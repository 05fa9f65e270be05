/**
 * Pinning: which definitions of tools, prompts, resource templates and instructions a person has
 * approved, what differs from them, and what is therefore not offered. Floor 4.
 */
package dev.mcpbridge.pins;
