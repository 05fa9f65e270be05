package dev.mcpbridge.model;

/**
 * Where a part of a server runs.
 *
 * @param instance the part's number, from 1
 * @param node that owns it; null where there is one node
 * @param epoch higher than that of every earlier owner
 */
public record InstanceLocation(int instance, String node, long epoch) {
  public static final InstanceLocation SOLE = new InstanceLocation(1, null, 0);
}
