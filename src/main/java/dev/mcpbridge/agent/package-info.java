/**
 * An agent: it asks a model, runs the tools that the model calls through a bridge, asks its human
 * where the bridge wants that, and tells the model what came of it. A client of the bridge's HTTP
 * API like any other, and a library: nothing here prints or exits.
 */
package dev.mcpbridge.agent;
