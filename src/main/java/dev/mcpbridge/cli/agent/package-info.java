/** The agent at a terminal: what is typed, what is shown, and how a question ends for a script. */
package dev.mcpbridge.cli.agent;
