package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Addresses.ConfirmationQuery;
import dev.mcpbridge.bus.Addresses.ConfirmationRequest;
import dev.mcpbridge.bus.Addresses.ConfirmationState;
import dev.mcpbridge.bus.Addresses.HumanDecision;
import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.cluster.SharedMap.Keep;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Future;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The calls that wait for a human, known to every node. An approval marks the confirmation as
 * decided <em>before</em> the call runs, so that any number of simultaneous approvals run it once,
 * and it covers what was shown: the arguments are kept here and not taken from the approver.
 *
 * <p>Whether one has expired the clock of all nodes says, whichever node is asked. Bounded in
 * number and in bytes. The terms may change while calls wait: each keeps its own expiry, and one
 * that was asked for while an operator was to decide stays an operator's to decide. Confined to its
 * verticle's context.
 */
public final class Confirmations {
  private volatile RiskConfig config;
  private final Clock clock;
  private final SecureRandom random;
  private final FailedAttempts failedAttempts;
  private final SharedMap pending;
  private final ConfirmationShares shares;

  /**
   * @param clock of this node, for what is shown
   * @param severalCallers whether callers can be told apart
   */
  public Confirmations(
      RiskConfig config,
      Clock clock,
      SecureRandom random,
      SharedMap pending,
      BooleanSupplier severalCallers) {
    this.shares = new ConfirmationShares(severalCallers);
    this.config = config;
    this.clock = clock;
    this.random = random;
    this.failedAttempts = new FailedAttempts(clock);
    this.pending = pending;
  }

  /** Other terms from now on; may be called from any thread. */
  void reload(RiskConfig other) {
    config = other;
  }

  /**
   * Keeps a call; done when more than half of the nodes keep it. The token is in the answer only
   * where the caller may decide.
   */
  public Future<PendingConfirmation> add(ConfirmationRequest asked) {
    RiskConfig terms = config;
    String id = uuid();
    Call call = asked.call().withId(id);
    long now = clock.millis();
    String token = randomHex();
    Confirmation confirmation =
        new Confirmation(
            id,
            call,
            RiskLevel.MEDIUM,
            asked.definitionDigest(),
            digest(call, asked.definitionDigest()),
            now,
            now + terms.expiryMillis());
    byte[] hash = terms.operatorApproves() ? ConfirmationRecord.NO_TOKEN : Sha256.of(token).bytes();
    byte[] kept = new ConfirmationRecord(confirmation, hash).toBytes();
    try {
      shares.take(id, call.caller().share(), kept.length, now, confirmation.expiresAtMillis());
    } catch (BridgeException full) {
      return Future.failedFuture(full);
    }
    return pending
        .put(id, SharedMap.ABSENT, kept, 2 * terms.expiryMillis(), Keep.FIRM)
        .map(
            change -> {
              if (!change.isDone()) {
                throw new BridgeException(
                        ErrorCode.OVERLOADED, "Too many confirmations are pending")
                    .withRetryAfter(terms.expiryMillis());
              }
              return new PendingConfirmation(confirmation, terms.operatorApproves() ? null : token);
            })
        .onFailure(notKept -> shares.release(id));
  }

  /**
   * Decides a confirmation, which nobody can decide again.
   *
   * @return the confirmation, whose call is the decider's to run if it was approved; fails with 404
   *     unknown, decided before or somebody else's; 410 expired; 403 wrong token or not theirs to
   *     decide; 429 after too many wrong tokens
   */
  public Future<Confirmation> claim(HumanDecision decision) {
    return slowedDown(decision)
        .compose(allowed -> pending.get(decision.confirmationId()))
        .compose(item -> decide(decision, check(decision, item)));
  }

  /** What is left of it says what became of it, for as long as there is room. */
  private Future<Confirmation> decide(HumanDecision decision, Item item) {
    ConfirmationRecord entry = ConfirmationRecord.of(item.value());
    boolean yes = decision.confirm();
    return mark(item, entry.decided(yes, yes ? Executed.UNKNOWN : Executed.NO))
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

  /** The call of an approved confirmation has ended, and this is known of its effect. */
  public Future<Void> ended(String confirmationId, Executed executed) {
    Item item = pending.known(confirmationId);
    ConfirmationRecord entry = item.isThere() ? ConfirmationRecord.of(item.value()) : null;
    return entry == null || !entry.isDecided()
        ? Future.succeededFuture()
        : mark(item, entry.decided(true, executed)).mapEmpty();
  }

  private Future<Change> mark(Item item, ConfirmationRecord decided) {
    return pending.put(
        decided.confirmation().id(),
        item.version(),
        decided.toBytes(),
        item.untilMillis() - item.millis(),
        Keep.WHILE_ROOM);
  }

  /** Who guesses costs the other nodes nothing; how the guesses under way end is not known yet. */
  private Future<Void> slowedDown(HumanDecision decision) {
    return Future.<Void>succeededFuture()
        .map(
            asked -> {
              failedAttempts.check(guess(decision));
              return null;
            });
  }

  /**
   * Wrong tokens are counted for a caller and a confirmation, since callers without keys look all
   * the same, and the guesses of one must not keep the others from deciding theirs.
   */
  private static String guess(HumanDecision decision) {
    return decision.by().name() + ' ' + decision.confirmationId();
  }

  /** One that may be claimed by whoever decides; throws where not. */
  private Item check(HumanDecision decision, Item item) {
    failedAttempts.check(guess(decision));
    ConfirmationRecord entry = item.isThere() ? ConfirmationRecord.of(item.value()) : null;
    if (entry == null || entry.isDecided() || !mayKnow(decision.by(), entry.confirmation())) {
      throw notPending(decision, item);
    }
    if (isExpired(item, entry.confirmation())) {
      throw new BridgeException(
          ErrorCode.CONFIRMATION_EXPIRED,
          "Confirmation '" + decision.confirmationId() + "' has expired");
    }
    if (config.operatorApproves() || entry.isForAnOperator()) {
      requireAnotherApprover(decision.by(), entry.confirmation());
    } else if (config.requireToken() && !isAnotherApprover(decision.by(), entry.confirmation())) {
      requireToken(decision, entry);
    }
    return item;
  }

  /** Who may know of one that was decided is told what is known of its call. */
  private static BridgeException notPending(HumanDecision decision, Item item) {
    ConfirmationRecord entry = item.isThere() ? ConfirmationRecord.of(item.value()) : null;
    boolean isTheirs = entry != null && mayKnow(decision.by(), entry.confirmation());
    String name = "Confirmation '" + decision.confirmationId() + "' ";
    if (!isTheirs || !entry.isDecided()) {
      return new BridgeException(ErrorCode.CONFIRMATION_NOT_FOUND, name + "not found or expired");
    }
    String known =
        switch (entry.executed()) {
          case YES -> "its call has run";
          case UNKNOWN -> "whether its call has run to its end is not known";
          case NO -> "its call has not run";
        };
    return new BridgeException(
            ErrorCode.CONFIRMATION_NOT_FOUND, name + "is decided already; " + known)
        .withExecuted(entry.executed());
  }

  /** How one stands; fails with CONFIRMATION_NOT_FOUND, for somebody else's too. */
  public Future<ConfirmationState> look(ConfirmationQuery confirmationQuery) {
    return pending.get(confirmationQuery.id()).map(item -> standing(confirmationQuery, item));
  }

  private static ConfirmationState standing(ConfirmationQuery confirmationQuery, Item item) {
    ConfirmationRecord entry = item.isThere() ? ConfirmationRecord.of(item.value()) : null;
    if (entry == null || !mayKnow(confirmationQuery.by(), entry.confirmation())) {
      throw new BridgeException(
          ErrorCode.CONFIRMATION_NOT_FOUND,
          "Confirmation '" + confirmationQuery.id() + "' not found or expired");
    }
    return new ConfirmationState(entry.confirmation(), status(entry, item), entry.executed());
  }

  private static ConfirmationState.Status status(ConfirmationRecord entry, Item item) {
    if (entry.isDecided()) {
      return entry.isRejected()
          ? ConfirmationState.Status.REJECTED
          : ConfirmationState.Status.APPROVED;
    }
    return isExpired(item, entry.confirmation())
        ? ConfirmationState.Status.EXPIRED
        : ConfirmationState.Status.PENDING;
  }

  public Future<List<Confirmation>> visibleTo(Viewer viewer) {
    return pending
        .all()
        .map(
            items ->
                items.values().stream()
                    .map(Confirmations::pending)
                    .filter(confirmation -> confirmation != null && mayKnow(viewer, confirmation))
                    .toList());
  }

  /** Null for one that was decided or has expired. */
  private static Confirmation pending(Item item) {
    ConfirmationRecord entry = ConfirmationRecord.of(item.value());
    boolean isOver = entry.isDecided() || isExpired(item, entry.confirmation());
    return isOver ? null : entry.confirmation();
  }

  /** One that has expired is kept for as long again, so that it can say so. */
  private static boolean isExpired(Item item, Confirmation confirmation) {
    long life = confirmation.expiresAtMillis() - confirmation.createdAtMillis();
    return item.millis() >= item.untilMillis() - life;
  }

  private static boolean mayKnow(Viewer viewer, Confirmation confirmation) {
    return viewer.approver() || viewer.name().equals(confirmation.call().caller().name());
  }

  private static void requireAnotherApprover(Viewer by, Confirmation confirmation) {
    if (!isAnotherApprover(by, confirmation)) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN,
          "This call is for another principal with the scope approve to decide");
    }
  }

  /** Somebody who may decide for others, and is not who asked. */
  private static boolean isAnotherApprover(Viewer by, Confirmation confirmation) {
    return by.approver() && !by.name().equals(confirmation.call().caller().name());
  }

  private void requireToken(HumanDecision decision, ConfirmationRecord entry) {
    String token = decision.token();
    if (token == null || !MessageDigest.isEqual(Sha256.of(token).bytes(), entry.tokenHash())) {
      failedAttempts.record(guess(decision));
      throw new BridgeException(
          ErrorCode.WRONG_TOKEN,
          token == null
              ? "The token that came with the confirmation is required"
              : "The token is not the one that came with the confirmation");
    }
  }

  private String randomHex() {
    byte[] bits = new byte[16];
    random.nextBytes(bits);
    return HexFormat.of().formatHex(bits);
  }

  /** In the original's form, though all 128 bits are random. */
  private String uuid() {
    String hex = randomHex();
    return String.join(
        "-",
        hex.substring(0, 8),
        hex.substring(8, 12),
        hex.substring(12, 16),
        hex.substring(16, 20),
        hex.substring(20));
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
            .add(call.envelope().shownMeta())
            .hex();
  }
}
