package dev.mcpbridge.model;

import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.ProtocolVersion;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A snapshot of a server for the rest of the bridge. It is published whenever it changes, so that
 * calls need no queries.
 *
 * @param pids process ids of its running instances
 * @param protocolVersion negotiated revision; null before the first handshake
 * @param identity {@code serverInfo} and instructions as the server sent them
 * @param catalogue from its last handshake, retained while it is down; null before the first
 * @param timeouts timeouts of its calls
 * @param image image of its containers; null if it has none
 * @param authUrl login page for its users; null if absent
 * @param program digest of the program or API; changes with it
 * @param lastError null if there was none
 * @param sinceMillis start of the present state, wall clock
 * @param locations locations of the instances in this view
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
    List<InstanceLocation> locations) {

  /** The counters of a server; {@code sessions} are the sessions with a process of their own. */
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

  /** Merges the views of the instances of a server, at least one. */
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
        parts.stream().flatMap(part -> part.locations.stream()).toList());
  }

  /** The instances in this view. */
  public List<InstanceId> instances() {
    return locations.stream().map(location -> new InstanceId(id, location.instance())).toList();
  }

  /** Adds the processes and the counters of a session. */
  public ServerView plusSession(ServerView session) {
    List<Long> all = Stream.concat(pids.stream(), session.pids.stream()).toList();
    return with(all, catalogue, counters.plusSession(session.counters));
  }

  /** Adds queued calls. */
  public ServerView plusQueued(long calls) {
    Counters more = new Counters(0, 0, 0, 0, Math.toIntExact(calls), 0, 0);
    return with(pids, catalogue, counters.plus(more));
  }

  /** With another catalogue. */
  public ServerView withCatalogue(Catalogue newCatalogue) {
    return with(pids, newCatalogue, counters);
  }

  /** With another catalogue and other instructions. */
  public ServerView offering(Catalogue newCatalogue, ServerIdentity newIdentity) {
    return with(pids, newIdentity, newCatalogue, counters);
  }

  private ServerView with(List<Long> newPids, Catalogue newCatalogue, Counters newCounters) {
    return with(newPids, identity, newCatalogue, newCounters);
  }

  private ServerView with(
      List<Long> newPids,
      ServerIdentity newIdentity,
      Catalogue newCatalogue,
      Counters newCounters) {
    return new ServerView(
        id,
        state,
        newPids,
        protocolVersion,
        newIdentity,
        newCatalogue,
        risk,
        timeouts,
        image,
        authUrl,
        program,
        newCounters,
        lastError,
        sinceMillis,
        locations);
  }

  /** {@code legacy} for revisions with a handshake, {@code modern} without; null if unknown. */
  public String era() {
    if (protocolVersion == null) {
      return null;
    }
    return ProtocolVersion.STATELESS.equals(protocolVersion) ? "modern" : "legacy";
  }

  public boolean isDiscovered() {
    return catalogue != null;
  }

  /** Whether the server is down because it did not answer in time. */
  public boolean hasTimedOut() {
    return state instanceof ServerState.Failed failed
        && failed.code() == ErrorCode.DEADLINE_EXCEEDED;
  }

  /** The state of the handshake, as in the original API. */
  public String initializationState() {
    if (state.takesCalls()) {
      return "initialized";
    }
    if (state instanceof ServerState.Starting) {
      return "starting";
    }
    if (hasTimedOut()) {
      return "timeout";
    }
    return state instanceof ServerState.Failed || state instanceof ServerState.Refused
        ? "error"
        : "unknown";
  }
}
