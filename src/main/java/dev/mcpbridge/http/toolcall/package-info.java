/**
 * The door for whoever drives a model: tools as the model's API wants them, and its calls run as
 * they come.
 */
package dev.mcpbridge.http.toolcall;
