package dev.mcpbridge.model;

/**
 * Where a server runs.
 *
 * @param node that owns it; null where there is one node
 * @param epoch higher than that of every earlier owner
 */
public record Residence(String node, long epoch) {
  public static final Residence SOLE = new Residence(null, 0);
}
