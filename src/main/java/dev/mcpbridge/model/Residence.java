package dev.mcpbridge.model;

/**
 * Where a part of a server runs.
 *
 * @param instance the part's number, from 1
 * @param node that owns it; null where there is one node
 * @param epoch higher than that of every earlier owner
 */
public record Residence(int instance, String node, long epoch) {
  public static final Residence SOLE = new Residence(1, null, 0);
}
