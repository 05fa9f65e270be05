package dev.mcpbridge.model;

/**
 * Where an instance of a server runs.
 *
 * @param instance number of the instance, from 1
 * @param node the owner; null without a cluster
 * @param epoch higher than that of every earlier owner
 */
public record InstanceLocation(int instance, String node, long epoch) {
  public static final InstanceLocation SOLE = new InstanceLocation(1, null, 0);
}
