package dev.mcpbridge.risk;

import dev.mcpbridge.bus.Addresses.Confirmable;
import dev.mcpbridge.bus.Addresses.HumanDecision;
import dev.mcpbridge.bus.Addresses.PendingConfirmation;
import dev.mcpbridge.bus.Addresses.Viewer;
import dev.mcpbridge.config.RiskConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.protocol.Sha256;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The calls that wait for a human. An approval takes the confirmation out <em>before</em> the call
 * runs, so that any number of simultaneous approvals run it once, and it covers what was shown: the
 * arguments are kept here and not taken from whoever approves.
 *
 * <p>Bounded in number and in bytes. Confined to its verticle's context.
 */
public final class Confirmations {
  private static final int MAX_PENDING = 10_000;
  private static final long MAX_BYTES = 64L << 20;

  private final RiskConfig config;
  private final Clock clock;
  private final SecureRandom random;
  private final FailedAttempts failedAttempts;
  private final Map<String, Entry> pending = new LinkedHashMap<>();
  private long bytes;

  /**
   * @param tokenHash SHA-256; the token itself is nowhere
   */
  private record Entry(Confirmation confirmation, byte[] tokenHash) {}

  public Confirmations(RiskConfig config, Clock clock, SecureRandom random) {
    this.config = config;
    this.clock = clock;
    this.random = random;
    this.failedAttempts = new FailedAttempts(clock);
  }

  /** Keeps a call. The token is in the answer only where the caller may decide. */
  public PendingConfirmation add(Confirmable asked) {
    forgetOld();
    Call call = asked.call();
    if (pending.size() >= MAX_PENDING || bytes + call.arguments().length() > MAX_BYTES) {
      throw new BridgeException(ErrorCode.OVERLOADED, "Too many confirmations are pending")
          .withRetryAfter(config.expiryMillis());
    }
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
    pending.put(confirmation.id(), new Entry(confirmation, Sha256.of(token).bytes()));
    bytes += call.arguments().length();
    return new PendingConfirmation(confirmation, config.operatorApproves() ? null : token);
  }

  /**
   * Takes a confirmation out, approved or rejected.
   *
   * @return the confirmation, whose call is the decider's to run if it was approved
   * @throws BridgeException 404 unknown, used or somebody else's; 410 expired; 403 wrong token or
   *     not theirs to decide; 429 after too many wrong tokens
   */
  public Confirmation claim(HumanDecision decision) {
    failedAttempts.check(decision.by().name());
    Entry entry = pending.get(decision.confirmationId());
    if (entry == null || !mayKnow(decision.by(), entry.confirmation())) {
      throw new BridgeException(
          ErrorCode.CONFIRMATION_NOT_FOUND,
          "Confirmation '" + decision.confirmationId() + "' not found or expired");
    }
    if (entry.confirmation().isExpired(clock.millis())) {
      throw new BridgeException(
          ErrorCode.CONFIRMATION_EXPIRED,
          "Confirmation '" + decision.confirmationId() + "' has expired");
    }
    if (config.operatorApproves()) {
      requireAnotherApprover(decision.by(), entry.confirmation());
    } else if (config.requireToken()) {
      requireToken(decision, entry);
    }
    return remove(entry.confirmation().id());
  }

  public List<Confirmation> visibleTo(Viewer viewer) {
    long now = clock.millis();
    return pending.values().stream()
        .map(Entry::confirmation)
        .filter(confirmation -> !confirmation.isExpired(now) && mayKnow(viewer, confirmation))
        .toList();
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

  private void requireToken(HumanDecision decision, Entry entry) {
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

  private Confirmation remove(String id) {
    Confirmation removed = pending.remove(id).confirmation();
    bytes -= removed.call().arguments().length();
    return removed;
  }

  /** An expired one is kept for as long again, so that it can say that it expired. */
  private void forgetOld() {
    long horizon = clock.millis() - config.expiryMillis();
    pending.values().stream()
        .map(Entry::confirmation)
        .filter(confirmation -> confirmation.isExpired(horizon))
        .map(Confirmation::id)
        .toList()
        .forEach(this::remove);
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
