/**
 * An agent: it sends questions to a model, runs the model's tool calls through a bridge, asks the
 * user for approvals, and returns the results to the model. It is an ordinary client of the
 * bridge's HTTP API and can be used as a library: nothing here prints or exits.
 */
package dev.mcpbridge.agent;
