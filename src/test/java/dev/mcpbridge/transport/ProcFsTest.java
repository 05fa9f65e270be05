package dev.mcpbridge.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.transport.ProcFs.Stat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Descendants of processes. */
class ProcFsTest {

  @Test
  void descendantsOfAllGenerationsAreFound() {
    List<Stat> all = List.of(of(2, 1), of(3, 2), of(4, 3), of(5, 1), of(6, 4), of(7, 5));

    assertEquals(
        Set.of(all.get(1), all.get(2), all.get(4)),
        Set.copyOf(ProcFs.withDescendants(List.of(all.get(1)), all)));
    assertEquals(List.of(), ProcFs.withDescendants(List.of(), all));
  }

  private static Stat of(long pid, long parent) {
    return new Stat(pid, 'S', parent, pid, 1);
  }
}
