package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.link.Identity;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;
import java.util.Set;

/**
 * A member of the cluster.
 *
 * @param incarnation incarnation of its process, which differs after each start
 * @param url URL of its API
 * @param labels labels that servers may require
 * @param instances instances that it can run according to its own configuration
 * @param isLeaving whether it is releasing its instances
 */
public record Member(
    int slot,
    long incarnation,
    String name,
    String url,
    String version,
    List<String> labels,
    List<InstanceId> instances,
    boolean isLeaving) {

  boolean canRun(InstanceId instanceId) {
    return instances.contains(instanceId);
  }

  static Member of(
      Identity node, List<String> labels, String url, Set<InstanceId> parts, boolean isLeaving) {
    return new Member(
        node.slot(),
        node.incarnation(),
        node.node(),
        url,
        node.version(),
        labels,
        List.copyOf(parts),
        isLeaving);
  }

  static void write(WireWriter out, Member member) {
    out.number(member.slot)
        .number(member.incarnation)
        .text(member.name)
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
        in.list(WireReader::text),
        in.list(r -> InstanceId.of(r.text())),
        in.flag());
  }
}
