package dev.mcpbridge.cluster;

import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;

/**
 * A node that takes part.
 *
 * @param life of its process; another one after a restart
 * @param url where its API is
 * @param labels what servers may ask for
 * @param servers that it can run, by its own configuration
 * @param isLeaving whether it gives up what it has
 */
public record Member(
    int slot,
    long life,
    String name,
    String url,
    String version,
    List<String> labels,
    List<String> servers,
    boolean isLeaving) {

  Member leaving() {
    return new Member(slot, life, name, url, version, labels, servers, true);
  }

  static void write(WireWriter out, Member member) {
    out.number(member.slot)
        .number(member.life)
        .text(member.name)
        .text(member.url)
        .text(member.version)
        .list(member.labels, WireWriter::text)
        .list(member.servers, WireWriter::text)
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
        in.list(WireReader::text),
        in.flag());
  }
}
