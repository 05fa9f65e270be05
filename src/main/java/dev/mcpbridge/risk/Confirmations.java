package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Addresses.Confirmable;
import dev.mcpbridge.bus.Addresses.HumanDecision;
import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.cluster.SharedMap.Keep;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
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

/**
 * The calls that wait for a human, known to every node. An approval takes the confirmation out
 * <em>before</em> the call runs, so that any number of simultaneous approvals run it once, and it
 * covers what was shown: the arguments are kept here and not taken from whoever approves.
 *
 * <p>Whether one has expired the clock of all nodes says, whichever node is asked. Bounded in
 * number and in bytes. Confined to its verticle's context.
 */
public final class Confirmations {
  private final RiskConfig config;
  private final Clock clock;
  private final SecureRandom random;
  private final FailedAttempts failedAttempts;
  private final SharedMap pending;

  /**
   * @param clock of this node, for what is shown
   */
  public Confirmations(RiskConfig config, Clock clock, SecureRandom random, SharedMap pending) {
    this.config = config;
    this.clock = clock;
    this.random = random;
    this.failedAttempts = new FailedAttempts(clock);
    this.pending = pending;
  }

  /**
   * Keeps a call; done when more than half of the nodes keep it. The token is in the answer only
   * where the caller may decide.
   */
  public Future<PendingConfirmation> add(Confirmable asked) {
    Call call = asked.call();
    long now = clock.millis();
    String token = randomHex();
    Confirmation confirmation =
        new Confirmation(
            uuid(),
            call,
            RiskLevel.MEDIUM,
            asked.definitionDigest(),
            digest(call, asked.definitionDigest()),
            now,
            now + config.expiryMillis());
    byte[] kept = new Pending(confirmation, Sha256.of(token).bytes()).toBytes();
    return pending
        .put(confirmation.id(), SharedMap.ABSENT, kept, keptMillis(), Keep.FIRM)
        .map(
            change -> {
              if (!change.isDone()) {
                throw new BridgeException(
                        ErrorCode.OVERLOADED, "Too many confirmations are pending")
                    .withRetryAfter(config.expiryMillis());
              }
              return new PendingConfirmation(
                  confirmation, config.operatorApproves() ? null : token);
            });
  }

  /**
   * Takes a confirmation out, approved or rejected.
   *
   * @return the confirmation, whose call is the decider's to run if it was approved; fails with 404
   *     unknown, used or somebody else's; 410 expired; 403 wrong token or not theirs to decide; 429
   *     after too many wrong tokens
   */
  public Future<Confirmation> claim(HumanDecision decision) {
    return slowedDown(decision)
        .compose(allowed -> pending.get(decision.confirmationId()))
        .compose(
            item ->
                pending
                    .remove(decision.confirmationId(), check(decision, item).version())
                    .map(
                        change -> {
                          if (!change.isDone()) {
                            throw notFound(decision);
                          }
                          return Pending.of(item.value()).confirmation();
                        }));
  }

  /** Who guesses costs the other nodes nothing; how the guesses under way end is not known yet. */
  private Future<Void> slowedDown(HumanDecision decision) {
    return Future.<Void>succeededFuture()
        .map(
            asked -> {
              failedAttempts.check(decision.by().name());
              return null;
            });
  }

  /** One that may be claimed by whoever decides; throws where not. */
  private Item check(HumanDecision decision, Item item) {
    failedAttempts.check(decision.by().name());
    Pending entry = item.isThere() ? Pending.of(item.value()) : null;
    if (entry == null || !mayKnow(decision.by(), entry.confirmation())) {
      throw notFound(decision);
    }
    if (isExpired(item)) {
      throw new BridgeException(
          ErrorCode.CONFIRMATION_EXPIRED,
          "Confirmation '" + decision.confirmationId() + "' has expired");
    }
    if (config.operatorApproves()) {
      requireAnotherApprover(decision.by(), entry.confirmation());
    } else if (config.requireToken()) {
      requireToken(decision, entry);
    }
    return item;
  }

  private static BridgeException notFound(HumanDecision decision) {
    return new BridgeException(
        ErrorCode.CONFIRMATION_NOT_FOUND,
        "Confirmation '" + decision.confirmationId() + "' not found or expired");
  }

  public Future<List<Confirmation>> visibleTo(Viewer viewer) {
    return pending
        .all()
        .map(
            items ->
                items.values().stream()
                    .filter(item -> !isExpired(item))
                    .map(item -> Pending.of(item.value()).confirmation())
                    .filter(confirmation -> mayKnow(viewer, confirmation))
                    .toList());
  }

  /** One that has expired is kept for as long again, so that it can say so. */
  private long keptMillis() {
    return 2 * config.expiryMillis();
  }

  private boolean isExpired(Item item) {
    return item.millis() >= item.untilMillis() - config.expiryMillis();
  }

  private static boolean mayKnow(Viewer viewer, Confirmation confirmation) {
    return viewer.approver() || viewer.name().equals(confirmation.call().caller().name());
  }

  private static void requireAnotherApprover(Viewer by, Confirmation confirmation) {
    if (!by.approver() || by.name().equals(confirmation.call().caller().name())) {
      throw new BridgeException(
          ErrorCode.FORBIDDEN,
          "This call is for another principal with the scope approve to decide");
    }
  }

  private void requireToken(HumanDecision decision, Pending entry) {
    String token = decision.token();
    if (token == null || !MessageDigest.isEqual(Sha256.of(token).bytes(), entry.tokenHash())) {
      failedAttempts.record(decision.by().name());
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
    return "sha256:" + digest.add(call.arguments()).add(call.envelope().extras()).hex();
  }
}
