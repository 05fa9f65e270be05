package dev.mcpbridge.agent;

/**
 * Bounds of an agent.
 *
 * @param steps how often the model is asked for one question
 * @param resultCharacters of a result's texts that the model gets to see
 * @param manyTools from how many tools on the model gets three to find the others with
 */
public record AgentLimits(int steps, int resultCharacters, int manyTools) {
  public static final AgentLimits USUAL = new AgentLimits(25, 50_000, 100);
}
