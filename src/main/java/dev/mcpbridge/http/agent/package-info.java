/** The door for conversations with the model that the operator has configured. */
package dev.mcpbridge.http.agent;
