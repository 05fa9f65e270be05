package dev.mcpbridge.pins;

import dev.mcpbridge.config.PinsConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.PinRules.Reaction;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.pins.Judgement.State;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Judges the definitions of all servers by the pins that the nodes share. Every node judges what it
 * has received; the owner of a server approves what the rules trust. Confined to the event loop.
 */
public final class Pins {
  private static final Logger LOG = System.getLogger(Pins.class.getName());
  private static final int MAX_ATTEMPTS = 5;
  private static final int MAX_NAME = 1_024;

  private final PinStore store;
  private final Clock clock;
  private final Map<ServerId, Judged> judged = new HashMap<>();

  private final PinJudge judge = new PinJudge();

  /** Servers whose pins found no room: nothing of them can be trusted at first sight. */
  private final Set<ServerId> unstored = new HashSet<>();

  private PinsConfig config;

  /** A judgement and what it was based on. */
  private record Judged(PinJudge.Basis basis, ServerJudgement judgement) {}

  public Pins(PinStore store, Clock clock, PinsConfig config) {
    this.store = store;
    this.clock = clock;
    this.config = config;
  }

  public void reload(PinsConfig next) {
    config = next;
  }

  /** Registers a listener for changes of any pins. */
  public void onChange(Runnable listener) {
    store.onChange(listener);
  }

  /** Whether the pins of the file and of the other nodes have arrived. */
  public boolean isCurrent() {
    return store.isCurrent();
  }

  /** The rules for a server. */
  public PinRules rules(ServerId server) {
    return config.of(server);
  }

  /**
   * Judges a server.
   *
   * @param server with everything that it defines
   * @return empty if its definitions are not known yet, or are not judged
   */
  public Optional<ServerJudgement> judge(ServerView server) {
    PinRules rules = rules(server.id());
    if (rules.isOff() || !server.isDiscovered()) {
      judged.remove(server.id());
      return Optional.empty();
    }
    PinJudge.Basis basis = basis(server.id(), rules);
    Judged last = judged.get(server.id());
    ServerJudgement judgement = judge(server, basis, last);
    judged.put(server.id(), new Judged(basis, judgement));
    return Optional.of(judgement);
  }

  private ServerJudgement judge(ServerView server, PinJudge.Basis basis, Judged last) {
    return last != null && last.basis.equals(basis) && isSame(last.judgement.whole(), server)
        ? last.judgement.of(server)
        : ServerJudgement.of(server, judge.judge(server, basis, store.of(server.id())));
  }

  /** A view of a server without what is held of it, which is not the one that counts. */
  public ServerView shown(ServerView server) {
    PinRules rules = rules(server.id());
    return rules.isOff() || !server.isDiscovered()
        ? server
        : judge(server, basis(server.id(), rules), judged.get(server.id())).shown();
  }

  /** Whether the last judgement of a server, if it needs one, is by the present pins and rules. */
  public boolean isJudged(ServerView server) {
    PinRules rules = rules(server.id());
    Judged last = judged.get(server.id());
    return rules.isOff() || !server.isDiscovered()
        ? last == null
        : last != null && last.basis.equals(basis(server.id(), rules));
  }

  private PinJudge.Basis basis(ServerId server, PinRules rules) {
    boolean isCurrent = store.isCurrent() && !unstored.contains(server);
    return new PinJudge.Basis(rules, store.version(server), isCurrent);
  }

  /** The last judgement of a server. */
  public Optional<ServerJudgement> known(ServerId server) {
    return Optional.ofNullable(judged.get(server)).map(Judged::judgement);
  }

  /** The tool that is held under a name; null if none is. */
  public Tool heldTool(ServerId server, String name) {
    return known(server)
        .filter(each -> each.held(new Name(DefinitionKind.TOOL, name)).isPresent())
        .map(each -> each.whole().catalogue().tools().get(name))
        .orElse(null);
  }

  /**
   * @throws BridgeException DEFINITION_CHANGED if the target of a call is held, SERVER_UNAVAILABLE
   *     if that is not known yet
   */
  public void requireOffered(ServerId server, Target target) {
    DefinitionKind kind = DefinitionKind.of(target.kind());
    Optional<State> held =
        kind == null
            ? Optional.empty()
            : known(server).flatMap(each -> held(each, new Name(kind, target.name())));
    if (held.isPresent() && !isCurrent()) {
      throw new BridgeException(
              ErrorCode.SERVER_UNAVAILABLE, "This node has not received the approvals yet")
          .withRetryAfter(1_000);
    }
    if (held.isPresent()) {
      throw new BridgeException(
          ErrorCode.DEFINITION_CHANGED,
          switch (held.get()) {
                case BLOCKED -> "An operator has blocked this ";
                case NEW -> "No operator has approved the definition of this ";
                default -> "The server has changed the definition of this ";
              }
              + target.kind().noun()
              + (held.get() == State.BLOCKED
                  ? ""
                  : ". It can be called when an operator approves the present definition"));
    }
  }

  /** A server may answer for a prompt that it does not list. */
  private Optional<State> held(ServerJudgement server, Name name) {
    Judgement judgement = server.all().get(name);
    boolean isUnlisted = judgement == null || judgement.state() == State.MISSING;
    if (isUnlisted && name.kind() == DefinitionKind.PROMPT) {
      boolean isHeld = rules(server.whole().id()).added() == Reaction.BLOCK;
      return isHeld ? Optional.of(State.NEW) : Optional.empty();
    }
    return server.held(name).map(Judgement::state);
  }

  /** A removed server. */
  public void forget(ServerId server) {
    judged.remove(server);
  }

  private static boolean isSame(ServerView one, ServerView other) {
    return one.catalogue() == other.catalogue() && one.identity() == other.identity();
  }

  /**
   * Approves what the rules trust: everything of a server that is seen for the first time, and new
   * definitions where they are not judged. Called at the owner of the server.
   */
  public void approveTrusted(ServerJudgement judgement) {
    ServerId server = judgement.whole().id();
    ServerPins before = store.of(server);
    Map<Name, Pin> trusted = trusted(judgement);
    boolean isFirst = before == null && rules(server).trustsFirst() && !unstored.contains(server);
    if (!trusted.isEmpty() || isFirst) {
      store
          .put(server, store.version(server), or(before).with(trusted))
          .onSuccess(change -> stored(server, change.isFull()))
          .onFailure(e -> LOG.log(Level.WARNING, "server={0} pins not stored: {1}", server, e));
    }
  }

  private static ServerPins or(ServerPins pins) {
    return pins == null ? ServerPins.NONE : pins;
  }

  /** After a failure it is tried again with the next change; without room it is not. */
  private void stored(ServerId server, boolean isFull) {
    if (!isFull) {
      unstored.remove(server);
    } else if (unstored.add(server)) {
      LOG.log(Level.WARNING, "server={0} pins not stored: there is no room", server);
    }
  }

  private Map<Name, Pin> trusted(ServerJudgement judgement) {
    Map<Name, Pin> trusted = new TreeMap<>();
    long known = judgement.all().values().stream().filter(each -> each.pin() != null).count();
    judgement.all().values().stream()
        .filter(each -> each.state() == State.APPROVED && each.pin() == null)
        .filter(each -> each.name().text().length() <= MAX_NAME)
        .limit(Math.max(0, ServerPins.MAX_PINS - known))
        .forEach(each -> trusted.put(each.name(), pin(each, true, Pin.FIRST_SIGHT)));
    return trusted;
  }

  private Pin pin(Judgement judgement, boolean isApproval, String by) {
    JsonSlice canonical =
        DigestVersion.ALL.get(0).canonical(judgement.name().kind(), judgement.current());
    String at = clock.instant().truncatedTo(ChronoUnit.MILLIS).toString();
    return new Pin(!isApproval, judgement.digest(), canonical, at, by);
  }

  /**
   * Applies a person's decisions, all or none.
   *
   * @param by the principal that decides
   * @return fails with DEFINITION_CHANGED if a digest is not that of the present definition, or
   *     NOT_FOUND if there is no such definition
   */
  public Future<Void> decide(ServerId server, List<PinDecision> decisions, String by) {
    return decide(server, decisions, by, MAX_ATTEMPTS);
  }

  private Future<Void> decide(
      ServerId server, List<PinDecision> decisions, String by, int attempts) {
    Optional<ServerJudgement> known = known(server);
    Map<Name, Judgement> all = known.map(ServerJudgement::all).orElse(Map.of());
    Map<Name, Pin> decided = new TreeMap<>();
    for (PinDecision decision : decisions) {
      Judgement judgement = all.get(decision.name());
      if (judgement == null || judgement.current() == null) {
        return Future.failedFuture(decision.notFound(server));
      }
      if (!judgement.digest().equals(decision.digest())) {
        return Future.failedFuture(
            new BridgeException(
                ErrorCode.DEFINITION_CHANGED,
                "The definition of "
                    + HiddenCharacters.escaped(decision.name().toString())
                    + " is not the one with this digest; it is now "
                    + judgement.digest()));
      }
      decided.put(decision.name(), pin(judgement, decision.isApproval(), by));
    }
    Map<Name, Pin> trusted = known.map(this::trusted).orElse(Map.of());
    ServerPins next = or(store.of(server)).with(trusted).with(decided);
    return store
        .put(server, store.version(server), next)
        .compose(
            change -> {
              if (change.isDone()) {
                LOG.log(
                    Level.INFO,
                    () -> "server=" + server + " by=" + by + " decided=" + described(decided));
                return Future.succeededFuture();
              }
              return change.isFull() || attempts == 1
                  ? Future.failedFuture(
                      new BridgeException(ErrorCode.OVERLOADED, "The decision could not be stored"))
                  : decide(server, decisions, by, attempts - 1);
            });
  }

  private static String described(Map<Name, Pin> decided) {
    return decided.entrySet().stream()
        .map(entry -> (entry.getValue().isBlocked() ? "block " : "approve ") + entry.getKey())
        .map(HiddenCharacters::escaped)
        .collect(Collectors.joining(", "));
  }
}
