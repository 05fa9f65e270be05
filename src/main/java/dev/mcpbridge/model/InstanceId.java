package dev.mcpbridge.model;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A unit of a server that runs on one node: a single instance in a cluster, all instances on a
 * single node.
 *
 * @param number from 1
 */
public record InstanceId(ServerId server, int number) implements Comparable<InstanceId> {
  private static final Comparator<InstanceId> ORDER =
      Comparator.<InstanceId, String>comparing(instanceId -> instanceId.server().name())
          .thenComparing(InstanceId::number);

  /** The first instance, which every server has. */
  public static InstanceId first(ServerId server) {
    return new InstanceId(server, 1);
  }

  /** All instances of a server with the given number of instances. */
  public static List<InstanceId> all(ServerId server, int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(number -> new InstanceId(server, number))
        .toList();
  }

  /** Parses {@link #name}. */
  public static InstanceId of(String name) {
    int separator = name.indexOf('#');
    return separator < 0
        ? first(new ServerId(name))
        : new InstanceId(
            new ServerId(name.substring(0, separator)),
            Integer.parseInt(name.substring(separator + 1)));
  }

  /** The server's name and, except for the first instance, the number: {@code s}, {@code s#2}. */
  public String name() {
    return number == 1 ? server.name() : server.name() + "#" + number;
  }

  @Override
  public int compareTo(InstanceId other) {
    return ORDER.compare(this, other);
  }

  // Explicit for a faster start, see ServerId.

  @Override
  public boolean equals(Object other) {
    return other instanceof InstanceId instanceId
        && number == instanceId.number
        && server.equals(instanceId.server);
  }

  @Override
  public int hashCode() {
    return 31 * server.hashCode() + number;
  }

  @Override
  public String toString() {
    return name();
  }
}
