package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Gate.ConfirmationList;
import dev.mcpbridge.bus.Gate.ConfirmationQuery;
import dev.mcpbridge.bus.Gate.ConfirmationRequest;
import dev.mcpbridge.bus.Gate.ConfirmationState;
import dev.mcpbridge.bus.Gate.ConfirmationState.Ruling;
import dev.mcpbridge.bus.Gate.ConfirmationState.Status;
import dev.mcpbridge.bus.Gate.HumanDecision;
import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.bus.Gate.Viewer;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.protocol.RandomIds;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * The confirmations, shared with all nodes. An approval marks the confirmation as decided
 * <em>before</em> the call runs, so that concurrent approvals run it once. It covers what was
 * shown: the arguments are stored here and not taken from the approver.
 *
 * <p>Expiry is decided by the shared clock of all nodes. Number and bytes are bounded. The
 * configuration may change while confirmations are pending: each keeps its expiry, and one that was
 * created for an operator to decide stays so. Confined to its verticle's context.
 */
public final class Confirmations {
  private static final Comparator<ConfirmationState> NEWEST_FIRST =
      Comparator.comparingLong((ConfirmationState each) -> each.confirmation().createdAtMillis())
          .reversed();

  private volatile RiskConfig config;
  private final Clock clock;
  private final FailedAttempts failedAttempts;
  private final SharedMap pending;
  private final ConfirmationShares shares;

  /**
   * @param clock clock of this node, only for times that are shown
   * @param severalCallers whether callers can be told apart
   */
  public Confirmations(
      RiskConfig config, Clock clock, SharedMap pending, BooleanSupplier severalCallers) {
    this.shares = new ConfirmationShares(severalCallers);
    this.config = config;
    this.clock = clock;
    this.failedAttempts = new FailedAttempts(clock);
    this.pending = pending;
  }

  /** Applies a new configuration. May be called from any thread. */
  void reload(RiskConfig newConfig) {
    config = newConfig;
  }

  /**
   * The pending confirmation of the same call of the same caller, who repeats it while an operator
   * decides, at this node or another; null if this node knows of none.
   */
  Confirmation repeated(ConfirmationRequest request) {
    if (!config.operatorApproves()) {
      return null;
    }
    String digest = digest(request.call(), request.definitionDigest());
    String caller = request.call().caller().name();
    return pending.startingWith(startOfId(digest, caller)).values().stream()
        .map(Confirmations::pending)
        .filter(Objects::nonNull)
        .filter(each -> each.digest().equals(digest) && each.call().caller().name().equals(caller))
        .findFirst()
        .orElse(null);
  }

  /**
   * Creates a confirmation. Completes when a majority of the nodes has stored it. The result
   * contains the token only if the caller may decide.
   */
  public Future<PendingConfirmation> add(ConfirmationRequest request) {
    RiskConfig current = config;
    String digest = digest(request.call(), request.definitionDigest());
    String id =
        current.operatorApproves()
            ? startOfId(digest, request.call().caller().name()) + endOfId()
            : startOfId(RandomIds.next()) + endOfId();
    Call call = request.call().withId(id);
    long now = clock.millis();
    String token = RandomIds.next();
    Confirmation confirmation =
        new Confirmation(
            id,
            call,
            RiskLevel.MEDIUM,
            request.definitionDigest(),
            digest,
            now,
            now + current.expiryMillis());
    byte[] hash =
        current.operatorApproves() ? ConfirmationRecord.NO_TOKEN : Sha256.of(token).bytes();
    byte[] encoded = new ConfirmationRecord(confirmation, hash).toBytes();
    try {
      shares.acquire(
          id, call.caller().share(), encoded.length, now, confirmation.expiresAtMillis());
    } catch (BridgeException full) {
      return Future.failedFuture(full);
    }
    return pending
        .put(id, SharedMap.ABSENT, encoded, 2 * current.expiryMillis(), Eviction.NEVER)
        .map(
            change -> {
              if (!change.isDone()) {
                throw new BridgeException(
                        ErrorCode.OVERLOADED, "Too many confirmations are pending")
                    .withRetryAfter(current.expiryMillis());
              }
              return new PendingConfirmation(
                  confirmation, current.operatorApproves() ? null : token);
            })
        .onFailure(failure -> shares.release(id));
  }

  /**
   * Decides a confirmation. It cannot be decided again.
   *
   * @return the confirmation; the decider runs its call if it was approved. Fails with 404 if it is
   *     unknown, already decided or not visible to the viewer; 410 if it has expired; 403 for a
   *     wrong token or if the viewer may not decide; 429 after too many wrong tokens
   */
  public Future<Confirmation> claim(HumanDecision decision) {
    try {
      failedAttempts.check(attemptKey(decision));
    } catch (BridgeException tooMany) {
      return Future.failedFuture(tooMany);
    }
    return pending
        .get(decision.confirmationId())
        .compose(item -> decide(decision, check(decision, item)));
  }

  /** Marks it as decided; removes it if there is no room for decided confirmations. */
  private Future<Confirmation> decide(HumanDecision decision, Item item) {
    ConfirmationRecord entry = ConfirmationRecord.of(item.value());
    boolean isApproved = decision.confirm();
    Executed executed = isApproved ? Executed.UNKNOWN : Executed.NO;
    Ruling ruling = new Ruling(decision.by().name(), decision.reason(), clock.millis());
    return storeDecided(item, entry.decided(isApproved, executed, ruling))
        .compose(
            change ->
                change.isFull()
                    ? pending.remove(decision.confirmationId(), item.version())
                    : Future.succeededFuture(change))
        .map(
            change -> {
              if (!change.isDone()) {
                throw notPending(decision, change.item());
              }
              shares.release(decision.confirmationId());
              return entry.confirmation();
            });
  }

  /** Records the end of an approved call, and whether it was executed. */
  public Future<Void> ended(String confirmationId, Executed executed) {
    Item item = pending.cached(confirmationId);
    ConfirmationRecord entry = item.isPresent() ? ConfirmationRecord.of(item.value()) : null;
    return entry == null || !entry.isDecided()
        ? Future.succeededFuture()
        : storeDecided(item, entry.decided(true, executed, entry.ruling())).mapEmpty();
  }

  private Future<Change> storeDecided(Item item, ConfirmationRecord decided) {
    return pending.put(
        decided.confirmation().id(),
        item.version(),
        decided.toBytes(),
        item.untilMillis() - item.millis(),
        Eviction.OLDEST_FIRST);
  }

  /**
   * Counts wrong tokens by caller and confirmation. Callers without keys have the same name, and
   * wrong tokens of one must not prevent the others from deciding theirs.
   */
  private static String attemptKey(HumanDecision decision) {
    return decision.by().name() + ' ' + decision.confirmationId();
  }

  /**
   * Returns the item if the viewer may decide it; throws otherwise. Also checks the attempts again,
   * since concurrent ones were not counted before.
   */
  private Item check(HumanDecision decision, Item item) {
    failedAttempts.check(attemptKey(decision));
    ConfirmationRecord entry = visible(item, decision.by());
    if (entry == null || entry.isDecided()) {
      throw notPending(decision, item);
    }
    if (isExpired(item, entry.confirmation())) {
      throw new BridgeException(
          ErrorCode.CONFIRMATION_EXPIRED,
          "Confirmation '" + decision.confirmationId() + "' has expired");
    }
    if (config.operatorApproves() || entry.needsOperator()) {
      checkAnotherApprover(decision.by(), entry.confirmation());
    } else if (config.requireToken() && !isAnotherApprover(decision.by(), entry.confirmation())) {
      requireToken(decision, entry);
    }
    return item;
  }

  /**
   * Reports whether the call of a decided confirmation was executed, to viewers that may see it.
   */
  private static BridgeException notPending(HumanDecision decision, Item item) {
    ConfirmationRecord entry = visible(item, decision.by());
    String name = "Confirmation '" + decision.confirmationId() + "' ";
    if (entry == null || !entry.isDecided()) {
      return new BridgeException(ErrorCode.CONFIRMATION_NOT_FOUND, name + "not found or expired");
    }
    String execution =
        switch (entry.executed()) {
          case YES -> "its call was executed";
          case UNKNOWN -> "it is unknown whether its call was executed";
          case NO -> "its call was not executed";
        };
    return new BridgeException(
            ErrorCode.CONFIRMATION_NOT_FOUND, name + "was already decided; " + execution)
        .withExecuted(entry.executed());
  }

  /** The state of a confirmation. Fails with CONFIRMATION_NOT_FOUND, also if it is not visible. */
  public Future<ConfirmationState> find(ConfirmationQuery confirmationQuery) {
    return pending.get(confirmationQuery.id()).map(item -> state(confirmationQuery, item));
  }

  private static ConfirmationState state(ConfirmationQuery confirmationQuery, Item item) {
    ConfirmationRecord entry = visible(item, confirmationQuery.by());
    if (entry == null) {
      throw new BridgeException(
          ErrorCode.CONFIRMATION_NOT_FOUND,
          "Confirmation '" + confirmationQuery.id() + "' not found or expired");
    }
    return state(entry, item);
  }

  private static ConfirmationState state(ConfirmationRecord entry, Item item) {
    return new ConfirmationState(
        entry.confirmation(), status(entry, item), entry.executed(), entry.ruling());
  }

  private static Status status(ConfirmationRecord entry, Item item) {
    if (entry.isDecided()) {
      return entry.isRejected() ? Status.REJECTED : Status.APPROVED;
    }
    return isExpired(item, entry.confirmation()) ? Status.EXPIRED : Status.PENDING;
  }

  /** Those that wait, or else the others, the newest first. */
  public Future<List<ConfirmationState>> visibleTo(ConfirmationList query) {
    return pending
        .all()
        .map(
            items ->
                items.values().stream()
                    .map(item -> state(ConfirmationRecord.of(item.value()), item))
                    .filter(each -> each.status() == Status.PENDING == query.isPending())
                    .filter(each -> maySee(query.by(), each.confirmation()))
                    .sorted(NEWEST_FIRST)
                    .toList());
  }

  /** Null if it was decided or has expired. */
  private static Confirmation pending(Item item) {
    ConfirmationRecord entry = ConfirmationRecord.of(item.value());
    boolean isOver = entry.isDecided() || isExpired(item, entry.confirmation());
    return isOver ? null : entry.confirmation();
  }

  /** An item is stored for twice its expiry, so that its expiry can be reported. */
  private static boolean isExpired(Item item, Confirmation confirmation) {
    long expiryMillis = confirmation.expiresAtMillis() - confirmation.createdAtMillis();
    return item.millis() >= item.untilMillis() - expiryMillis;
  }

  /** Null if there is no confirmation, or none that the viewer may see. */
  private static ConfirmationRecord visible(Item item, Viewer viewer) {
    ConfirmationRecord entry = item.isPresent() ? ConfirmationRecord.of(item.value()) : null;
    return entry != null && maySee(viewer, entry.confirmation()) ? entry : null;
  }

  private static boolean maySee(Viewer viewer, Confirmation confirmation) {
    return viewer.approver() || viewer.name().equals(confirmation.call().caller().name());
  }

  private static void checkAnotherApprover(Viewer by, Confirmation confirmation) {
    if (!isAnotherApprover(by, confirmation)) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN,
          "Only another principal with the scope 'approve' may decide this call");
    }
  }

  /** Whether the viewer is an approver and not the caller itself. */
  private static boolean isAnotherApprover(Viewer by, Confirmation confirmation) {
    return by.approver() && !by.name().equals(confirmation.call().caller().name());
  }

  private void requireToken(HumanDecision decision, ConfirmationRecord entry) {
    String token = decision.token();
    if (token == null || !MessageDigest.isEqual(Sha256.of(token).bytes(), entry.tokenHash())) {
      failedAttempts.record(attemptKey(decision));
      throw new BridgeException(
          ErrorCode.WRONG_TOKEN,
          token == null
              ? "The token that came with the confirmation is required"
              : "The token does not match the confirmation");
    }
  }

  /**
   * An id has the format of the original API. Its first 64 bits tell calls that wait for an
   * operator apart, so that a repeated one is found without reading the others; everything else is
   * random.
   */
  private static String startOfId(String digest, String caller) {
    return startOfId(Sha256.of(digest + ' ' + caller).hex());
  }

  private static String startOfId(String digits) {
    return digits.replaceFirst("(.{8})(.{4})(.{4}).*", "$1-$2-$3-");
  }

  private static String endOfId() {
    return RandomIds.hex(8).replaceFirst("(.{4})", "$1-");
  }

  private static String digest(Call call, String definitionDigest) {
    Sha256 digest = new Sha256();
    for (String part :
        List.of(
            call.server().name(),
            call.target().kind().method(),
            call.target().name(),
            definitionDigest)) {
      digest.add(part).end();
    }
    return "sha256:"
        + digest
            .add(call.arguments())
            .add(call.envelope().extras())
            .add(call.envelope().reviewedMeta())
            .hex();
  }
}
