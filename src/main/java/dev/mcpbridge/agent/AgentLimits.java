package dev.mcpbridge.agent;

/**
 * Limits of an agent.
 *
 * @param steps maximum requests to the model for one question
 * @param resultCharacters maximum length of a result's text that is sent to the model
 */
public record AgentLimits(int steps, int resultCharacters) {
  public static final AgentLimits DEFAULTS = new AgentLimits(25, 50_000);
}
