package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Message.Signed;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/**
 * Nodes, a network between them and clocks, all of them played in one thread from one seed. What
 * must never happen is checked at every step: two nodes that apply different commands at the same
 * place, a command that is applied twice, two nodes that act as the owner of the same thing.
 *
 * <p>The thing that is owned is one, and wanted by the lowest slot that is up in the state that the
 * commands {@code up n}, {@code down n} and {@code free n} make; who has it keeps it until it is
 * down or says that it is free.
 */
final class Simulation {
  static final long MILLI = 1_000_000;
  static final Terms TERMS_OF_3 = new Terms(3, 1_500 * MILLI);
  private static final long TICK = 40 * MILLI;

  final Node[] nodes;
  final Terms terms;
  private final RandomGenerator random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final Map<String, String> agreed = new HashMap<>();
  private final Set<String> cut = new HashSet<>();
  private final Map<String, Long> lastArrival = new HashMap<>();
  private long now = 3_600_000 * MILLI;
  private long count;
  double loss;
  int maxDelayMillis = 3;

  private record Event(long at, long order, Runnable what) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
    }
  }

  final class Node implements Replica.Peers, StateMachine {
    final int slot;
    final long offset;
    final List<String> applied = new ArrayList<>();
    final Set<String> texts = new HashSet<>();
    final TreeSet<Integer> up = new TreeSet<>();
    int owner = -1;
    boolean isFreeing;
    Replica replica;
    boolean isAlive;
    boolean isFrozen;
    long frozenFor;
    long lastLease;
    long wantsUpAt;
    final List<Runnable> whileFrozen = new ArrayList<>();

    Node(int slot) {
      this.slot = slot;
      this.offset = random.nextLong(1_000_000 * MILLI);
    }

    void start() {
      isAlive = true;
      restore(null);
      lastLease = 0;
      wantsUpAt = 0;
      replica = new Replica(terms, slot, now / MILLI + 1, this, this, random);
      tick(replica);
    }

    void crash() {
      isAlive = false;
      isFrozen = false;
      whileFrozen.clear();
      replica = null;
    }

    long clock() {
      return now + offset;
    }

    private void tick(Replica life) {
      if (!isAlive || replica != life) {
        return;
      }
      perform(
          () -> {
            if (replica == life) {
              replica.tick(clock(), now / MILLI);
              duties();
            }
          });
      at(now + TICK, () -> tick(life));
    }

    /** What the bridge does beside: declares the dead, and wants to be up itself. */
    private void duties() {
      for (int other : List.copyOf(up)) {
        replica.declare(other, ("down " + other).getBytes(StandardCharsets.UTF_8), clock());
      }
      boolean wants = !up.contains(slot) && replica.leaseUntil(clock()) > clock();
      if (wants && clock() - wantsUpAt > terms.leaseNanos()) {
        wantsUpAt = clock();
        propose("up " + slot + " " + replica.incarnation() + "." + clock());
      }
      if (owner == slot && up.first() != slot && !isFreeing) {
        isFreeing = true;
        propose("free " + slot + " " + replica.incarnation() + "." + clock());
      }
    }

    void propose(String text) {
      replica.propose(text.getBytes(StandardCharsets.UTF_8), clock());
    }

    void perform(Runnable what) {
      if (isFrozen) {
        whileFrozen.add(what);
      } else {
        what.run();
      }
    }

    boolean isActing() {
      return isAlive && !isFrozen && owns() && replica.leaseUntil(clock()) > clock();
    }

    /** What it has started is stopped when its lease has been over for a while. */
    boolean isRunning() {
      if (!isAlive || !owns()) {
        return false;
      }
      if (!isFrozen && replica.leaseUntil(clock()) > clock()) {
        lastLease = Math.max(lastLease, replica.leaseUntil(clock()));
      }
      return lastLease + terms.patienceNanos() > clock() && !isFrozen;
    }

    private boolean owns() {
      return owner == slot && !isFreeing;
    }

    private void obey(String text) {
      String[] words = text.split(" ");
      int whom = words.length > 1 ? Integer.parseInt(words[1]) : -1;
      switch (words[0]) {
        case "up" -> up.add(whom);
        case "down" -> {
          up.remove(whom);
          owner = owner == whom ? -1 : owner;
        }
        case "free" -> owner = owner == whom ? -1 : owner;
        default -> {
          return;
        }
      }
      if (owner == -1 && !up.isEmpty()) {
        owner = up.first();
        isFreeing = false;
      }
    }

    @Override
    public void send(int to, Signed message) {
      byte[] bytes = message.toBytes();
      if (cut.contains(slot + ">" + to) || random.nextDouble() < loss) {
        return;
      }
      Node receiver = nodes[to];
      long arrival = now + random.nextLong(1, maxDelayMillis * MILLI + 1);
      at(
          arrival,
          () -> {
            if (receiver.isAlive && !cut.contains(slot + ">" + to)) {
              receiver.perform(() -> receiver.replica.receive(Signed.of(bytes), receiver.clock()));
            }
          });
    }

    @Override
    public boolean isReachable(int to) {
      return nodes[to].isAlive && !cut.contains(slot + ">" + to);
    }

    @Override
    public void apply(long op, Entry entry) {
      String text = new String(entry.command(), StandardCharsets.UTF_8);
      String known = agreed.putIfAbsent(replica.generation() + "/" + op, text);
      assertEquals(known == null ? text : known, text, () -> "op " + op + " at node " + slot);
      if (!text.startsWith("down")) {
        assertTrue(texts.add(text), () -> text + " is applied twice");
      }
      applied.add(text);
      obey(text);
    }

    @Override
    public byte[] snapshot() {
      return String.join("\n", applied).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void restore(byte[] snapshot) {
      applied.clear();
      texts.clear();
      up.clear();
      owner = -1;
      isFreeing = false;
      if (snapshot != null && snapshot.length > 0) {
        for (String text : new String(snapshot, StandardCharsets.UTF_8).split("\n")) {
          applied.add(text);
          texts.add(text);
          obey(text);
        }
      }
    }
  }

  Simulation(int size, RandomGenerator random) {
    this.terms = new Terms(size, TERMS_OF_3.leaseNanos());
    this.random = random;
    this.nodes = new Node[size];
    Arrays.setAll(nodes, Node::new);
  }

  Simulation startAll() {
    for (Node node : nodes) {
      node.start();
    }
    return this;
  }

  void cut(int a, int b) {
    cut.add(a + ">" + b);
    cut.add(b + ">" + a);
  }

  void cutOneWay(int from, int to) {
    cut.add(from + ">" + to);
  }

  void isolate(int slot) {
    for (Node node : nodes) {
      cut(slot, node.slot);
    }
  }

  void heal() {
    cut.clear();
    loss = 0;
  }

  void freeze(int slot) {
    nodes[slot].isFrozen = nodes[slot].isAlive;
  }

  /** Everything that came meanwhile comes now. */
  void thaw(int slot) {
    Node node = nodes[slot];
    if (node.isFrozen) {
      node.isFrozen = false;
      List<Runnable> waiting = List.copyOf(node.whileFrozen);
      node.whileFrozen.clear();
      waiting.forEach(Runnable::run);
    }
  }

  void run(long millis) {
    long end = now + millis * MILLI;
    while (!events.isEmpty() && events.peek().at() <= end) {
      Event event = events.poll();
      now = event.at();
      event.what().run();
      check();
    }
    now = end;
  }

  /** Whether all that live follow one primary and know the same. */
  boolean isSettled() {
    List<Node> living = Arrays.stream(nodes).filter(node -> node.isAlive).toList();
    long primaries = living.stream().filter(node -> node.replica.isPrimary()).count();
    long known = living.stream().map(node -> node.applied).distinct().count();
    boolean allUp = living.stream().allMatch(node -> node.up.contains(node.slot));
    return primaries == 1
        && known == 1
        && allUp
        && living.stream().allMatch(n -> n.replica.leaseUntil(n.clock()) > n.clock());
  }

  String picture() {
    StringBuilder out = new StringBuilder();
    for (Node node : nodes) {
      out.append(node.slot).append(": ");
      if (node.isAlive) {
        Replica r = node.replica;
        out.append(r.status() + " g" + r.generation() + " v" + r.view() + " c" + r.committed());
        out.append(
            " up"
                + node.up
                + " owner "
                + node.owner
                + " lease "
                + (r.leaseUntil(node.clock()) - node.clock()) / MILLI);
      } else {
        out.append("dead");
      }
      out.append('\n');
    }
    return out.toString();
  }

  private void check() {
    for (Node acting : nodes) {
      if (acting.isActing()) {
        for (Node other : nodes) {
          assertFalse(
              other != acting && other.isRunning(),
              () -> acting.slot + " acts, " + other.slot + " runs\n" + picture());
        }
      }
      acting.isRunning();
    }
  }

  private void at(long time, Runnable what) {
    events.add(new Event(time, count++, what));
  }
}
