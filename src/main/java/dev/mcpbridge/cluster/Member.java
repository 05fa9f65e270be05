package dev.mcpbridge.cluster;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;

/**
 * A member of the cluster.
 *
 * @param slot number of the node, which stays the same after a restart
 * @param incarnation incarnation of its process, which differs after each start
 * @param address {@code host:port} for the messages of other nodes
 * @param url URL of its API
 * @param labels labels that servers may require
 * @param instances instances that it can run according to its own configuration
 * @param isLeaving whether it is releasing its instances
 */
public record Member(
    int slot,
    long incarnation,
    String name,
    String address,
    String url,
    String version,
    List<String> labels,
    List<InstanceId> instances,
    boolean isLeaving) {

  boolean canRun(InstanceId instanceId) {
    return instances.contains(instanceId);
  }

  static void write(WireWriter out, Member member) {
    out.number(member.slot)
        .number(member.incarnation)
        .text(member.name)
        .text(member.address)
        .text(member.url)
        .text(member.version)
        .list(member.labels, WireWriter::text)
        .list(member.instances, (w, instanceId) -> w.text(instanceId.name()))
        .flag(member.isLeaving);
  }

  static Member read(WireReader in) {
    return new Member(
        (int) in.number(),
        in.number(),
        in.text(),
        in.text(),
        in.text(),
        in.text(),
        in.list(WireReader::text),
        in.list(r -> InstanceId.of(r.text())),
        in.flag());
  }
}
