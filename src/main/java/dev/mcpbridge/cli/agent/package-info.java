/** The user interface of the agent, at a terminal and for scripts. */
package dev.mcpbridge.cli.agent;
