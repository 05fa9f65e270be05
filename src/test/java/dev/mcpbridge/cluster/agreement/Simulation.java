package dev.mcpbridge.cluster.agreement;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Message.Signed;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Nodes, a network between them and clocks, all of them played in one thread from one seed. What
 * must never happen is checked at every step: two nodes that apply different commands at the same
 * place, a command that is applied twice, one that was applied somewhere and is missing at a node
 * that has applied a later one, two nodes that act as the owner of the same thing, a node that is
 * declared dead and acts.
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
  private final Decided decided = new Decided();
  private final Set<String> cut = new HashSet<>();
  private long now = 3_600_000 * MILLI;
  private long count;
  double loss;

  /** How many of the messages come seconds later than the others. */
  double late;

  int maxDelayMillis = 3;

  private record Event(long at, long order, Runnable what) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
    }
  }

  final class Node implements SwiftPeers, StateMachine {
    final int slot;
    final double rate;
    final TreeMap<Long, String> applied = new TreeMap<>();
    final Set<String> texts = new HashSet<>();
    final Map<String, Long> wanted = new LinkedHashMap<>();
    final TreeSet<Integer> up = new TreeSet<>();
    int owner = -1;
    boolean isFreeing;
    Replica replica;
    boolean isAlive;
    boolean isFrozen;
    long lastIncarnation;
    long lastLease;
    long offset;
    long wantsUpAt;
    final List<Runnable> whileFrozen = new ArrayList<>();

    Node(int slot) {
      this.slot = slot;
      this.rate = 0.995 + random.nextDouble() * 0.01;
    }

    void start() {
      if (isAlive) {
        return;
      }
      isAlive = true;
      offset = random.nextLong(1_000_000 * MILLI);
      restore(null);
      wanted.clear();
      lastLease = 0;
      wantsUpAt = 0;
      lastIncarnation = Math.max(now / MILLI, lastIncarnation + 1);
      replica = new Replica(terms, slot, lastIncarnation, this, this, random);
      tick(replica);
    }

    void crash() {
      if (!isAlive) {
        return;
      }
      isAlive = false;
      isFrozen = false;
      whileFrozen.clear();
      lastIncarnation = replica.incarnation();
      replica = null;
    }

    void resign() {
      if (isAlive && !isFrozen) {
        replica.resign(clock());
      }
    }

    boolean has(String text) {
      return texts.contains(text);
    }

    /** It has begun anywhere when the node started, and goes about as fast as the others. */
    long clock() {
      return offset + (long) (now * rate);
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
      wanted.put(text, replica.incarnation());
      replica.propose(text.getBytes(StandardCharsets.UTF_8), clock());
    }

    void perform(Runnable what) {
      if (isFrozen) {
        whileFrozen.add(what);
      } else {
        what.run();
      }
    }

    boolean mayAct() {
      return isAlive && !isFrozen && replica.leaseUntil(clock()) > clock();
    }

    /** What it has started is stopped when its lease has been over for a while. */
    boolean mayRun() {
      if (mayAct()) {
        lastLease = Math.max(lastLease, replica.leaseUntil(clock()));
      }
      return isAlive && !isFrozen && lastLease + terms.patienceNanos() > clock();
    }

    boolean isActing() {
      return mayAct() && owns();
    }

    boolean isRunning() {
      return mayRun() && owns();
    }

    /** What it wants in this life and was not done yet. */
    List<String> open() {
      return wanted.keySet().stream()
          .filter(text -> wanted.get(text) == replica.incarnation() && !texts.contains(text))
          .toList();
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
      if (random.nextDouble() < late) {
        arrival += random.nextLong(5_000 * MILLI);
      }
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
      if (!text.startsWith("down")) {
        assertTrue(texts.add(text), () -> text + " is applied twice");
      }
      note(op, text);
    }

    private void note(long op, String text) {
      long before = applied.isEmpty() ? 0 : applied.lastKey();
      if (decided.note(replica.generation(), before, op, text)) {
        assertDead(op, text);
      }
      applied.put(op, text);
      obey(text);
    }

    private void assertDead(long op, String text) {
      if (text.startsWith("down ")) {
        Node dead = nodes[Integer.parseInt(text.substring(5))];
        assertFalse(
            dead.mayRun() && dead.replica.committed() < op,
            () -> dead.slot + " is declared dead by op " + op + " and acts\n" + picture());
      }
    }

    @Override
    public byte[] snapshot() {
      return applied.entrySet().stream()
          .map(each -> each.getKey() + "\t" + each.getValue())
          .collect(Collectors.joining("\n"))
          .getBytes(StandardCharsets.UTF_8);
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
          String[] opAndText = text.split("\t");
          texts.add(opAndText[1]);
          note(Long.parseLong(opAndText[0]), opAndText[1]);
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
    late = 0;
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

  /**
   * Until all is well, which it has to be before long.
   *
   * @return after how many milliseconds it was
   */
  int settle() {
    int millis = 0;
    for (; millis < 20_000 && !isSettled(); millis += 100) {
      run(100);
    }
    assertTrue(isSettled(), this::picture);
    return millis;
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
        && living.stream().allMatch(node -> node.open().isEmpty())
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
      acting.mayRun();
    }
  }

  private void at(long time, Runnable what) {
    events.add(new Event(time, count++, what));
  }
}
