package dev.mcpbridge.model;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What is run of a server in one place: one of its instances where there are other nodes, all of
 * them where there are none.
 *
 * @param number from 1
 */
public record InstanceId(ServerId server, int number) implements Comparable<InstanceId> {
  private static final Comparator<InstanceId> ORDER =
      Comparator.<InstanceId, String>comparing(instanceId -> instanceId.server().name())
          .thenComparing(InstanceId::number);

  /** The first part, which every server has. */
  public static InstanceId first(ServerId server) {
    return new InstanceId(server, 1);
  }

  /** All parts of a server that is run in so many places. */
  public static List<InstanceId> all(ServerId server, int places) {
    return IntStream.rangeClosed(1, places)
        .mapToObj(number -> new InstanceId(server, number))
        .toList();
  }

  /** Reads what {@link #name} writes. */
  public static InstanceId of(String name) {
    int mark = name.indexOf('#');
    return mark < 0
        ? first(new ServerId(name))
        : new InstanceId(
            new ServerId(name.substring(0, mark)), Integer.parseInt(name.substring(mark + 1)));
  }

  /** The server's name and, but for the first, the number: {@code s}, {@code s#2}. */
  public String name() {
    return number == 1 ? server.name() : server.name() + "#" + number;
  }

  @Override
  public int compareTo(InstanceId other) {
    return ORDER.compare(this, other);
  }

  // As with ServerId: put together at every start otherwise.

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
