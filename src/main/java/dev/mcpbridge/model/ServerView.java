package dev.mcpbridge.model;

import dev.mcpbridge.protocol.ProtocolVersion;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A server as the rest of the bridge sees it: published as a whole whenever anything of it changes,
 * so that nobody has to ask on a call's way.
 *
 * @param pids process ids of its running instances
 * @param protocolVersion the negotiated revision, null before the first handshake
 * @param identity {@code serverInfo} and instructions as the server sent them
 * @param catalogue what it offered at its last handshake; kept while it is down; null before
 * @param timeouts how long a call may take
 * @param image of its containers; null where it has none
 * @param authUrl where its users log in; null for nowhere
 * @param program a digest of what runs or is called: another one for another program
 * @param lastError null where there was none
 * @param sinceMillis when it came into its state, wall clock
 * @param residences where it runs, a place for each part that was looked at
 */
public record ServerView(
    ServerId id,
    ServerState state,
    List<Long> pids,
    String protocolVersion,
    ServerIdentity identity,
    Catalogue catalogue,
    RiskRules risk,
    Timeouts timeouts,
    String image,
    String authUrl,
    String program,
    Counters counters,
    LastError lastError,
    long sinceMillis,
    List<InstanceLocation> residences) {

  /** What the server's window shows beside its state; sessions are those with a process each. */
  public record Counters(
      int instances,
      int sessions,
      int restarts,
      int inFlight,
      int queued,
      long garbageLines,
      long dropped) {
    public static final Counters ZERO = new Counters(0, 0, 0, 0, 0, 0, 0);

    Counters plus(Counters other) {
      return new Counters(
          instances + other.instances,
          sessions + other.sessions,
          restarts + other.restarts,
          inFlight + other.inFlight,
          queued + other.queued,
          garbageLines + other.garbageLines,
          dropped + other.dropped);
    }

    Counters plusSession(Counters session) {
      return plus(session).plus(new Counters(0, 1, 0, 0, 0, 0, 0));
    }
  }

  /** One view of a server whose parts, at least one, were looked at each for itself. */
  public static ServerView of(List<ServerView> parts) {
    if (parts.size() == 1) {
      return parts.get(0);
    }
    ServerView lead =
        parts.stream()
            .filter(ServerView::isDiscovered)
            .min(Comparator.comparing(part -> !part.state.takesCalls()))
            .orElse(parts.get(0));
    return new ServerView(
        lead.id,
        ServerState.of(parts.stream().map(ServerView::state).toList()),
        parts.stream().flatMap(part -> part.pids.stream()).toList(),
        lead.protocolVersion,
        lead.identity,
        lead.catalogue,
        lead.risk,
        lead.timeouts,
        lead.image,
        lead.authUrl,
        lead.program,
        parts.stream().map(ServerView::counters).reduce(Counters.ZERO, Counters::plus),
        parts.stream().map(ServerView::lastError).filter(Objects::nonNull).findFirst().orElse(null),
        parts.stream().mapToLong(ServerView::sinceMillis).max().getAsLong(),
        parts.stream().flatMap(part -> part.residences.stream()).toList());
  }

  /** The parts that were looked at. */
  public List<InstanceId> parts() {
    return residences.stream().map(at -> new InstanceId(id, at.instance())).toList();
  }

  /** With the processes and the work of a session added to its own. */
  public ServerView plusSession(ServerView session) {
    List<Long> all = Stream.concat(pids.stream(), session.pids.stream()).toList();
    return with(all, catalogue, counters.plusSession(session.counters));
  }

  /** With so many more calls that wait. */
  public ServerView plusQueued(long calls) {
    Counters more = new Counters(0, 0, 0, 0, Math.toIntExact(calls), 0, 0);
    return with(pids, catalogue, counters.plus(more));
  }

  /** As it is at another moment, with what it offers as known before. */
  public ServerView withCatalogue(Catalogue known) {
    return with(pids, known, counters);
  }

  private ServerView with(List<Long> otherPids, Catalogue known, Counters otherCounters) {
    return new ServerView(
        id,
        state,
        otherPids,
        protocolVersion,
        identity,
        known,
        risk,
        timeouts,
        image,
        authUrl,
        program,
        otherCounters,
        lastError,
        sinceMillis,
        residences);
  }

  /** {@code legacy} for revisions with a handshake, {@code modern} without; null before either. */
  public String era() {
    if (protocolVersion == null) {
      return null;
    }
    return ProtocolVersion.STATELESS.equals(protocolVersion) ? "modern" : "legacy";
  }

  public boolean isDiscovered() {
    return catalogue != null;
  }

  /** The original's word for the state of the handshake. */
  public String initializationState() {
    if (state.takesCalls()) {
      return "initialized";
    }
    if (state instanceof ServerState.Starting) {
      return "starting";
    }
    if (state instanceof ServerState.Failed failed && failed.reason().contains("timed out")) {
      return "timeout";
    }
    return state instanceof ServerState.Failed || state instanceof ServerState.Refused
        ? "error"
        : "unknown";
  }
}
