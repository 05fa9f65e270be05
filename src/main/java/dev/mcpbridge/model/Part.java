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
public record Part(ServerId server, int number) implements Comparable<Part> {
  private static final Comparator<Part> ORDER =
      Comparator.<Part, String>comparing(part -> part.server().name()).thenComparing(Part::number);

  /** The first part, which every server has. */
  public static Part first(ServerId server) {
    return new Part(server, 1);
  }

  /** All parts of a server that is run in so many places. */
  public static List<Part> all(ServerId server, int places) {
    return IntStream.rangeClosed(1, places).mapToObj(number -> new Part(server, number)).toList();
  }

  /** Reads what {@link #name} writes. */
  public static Part of(String name) {
    int mark = name.indexOf('#');
    return mark < 0
        ? first(new ServerId(name))
        : new Part(
            new ServerId(name.substring(0, mark)), Integer.parseInt(name.substring(mark + 1)));
  }

  /** The server's name and, but for the first, the number: {@code s}, {@code s#2}. */
  public String name() {
    return number == 1 ? server.name() : server.name() + "#" + number;
  }

  @Override
  public int compareTo(Part other) {
    return ORDER.compare(this, other);
  }

  // As with ServerId: put together at every start otherwise.

  @Override
  public boolean equals(Object other) {
    return other instanceof Part part && number == part.number && server.equals(part.server);
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
