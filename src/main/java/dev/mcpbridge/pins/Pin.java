package dev.mcpbridge.pins;

import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.JsonSlice;
import java.time.Instant;
import java.util.List;

/**
 * What a person has decided about a definition.
 *
 * @param isBlocked whether it is never offered, whatever it says; else it is offered while it is as
 *     approved
 * @param digest of the definition that was shown
 * @param definition its members that count, in their canonical form; null if it was too large to be
 *     kept
 * @param at time of the decision (RFC 3339)
 * @param by the principal that has decided; {@link #FIRST_SIGHT} without a decision
 */
public record Pin(boolean isBlocked, String digest, JsonSlice definition, String at, String by) {

  /** Approved because it was the first, and the rules trust the first. */
  public static final String FIRST_SIGHT = "first sight";

  /** Whether it was decided after another one; a decision of a person is always after none. */
  boolean isLaterThan(Pin other) {
    boolean isFirstSight = by.equals(FIRST_SIGHT);
    return isFirstSight == other.by.equals(FIRST_SIGHT)
        ? Instant.parse(at).isAfter(Instant.parse(other.at))
        : !isFirstSight;
  }

  /** Whether a definition is the approved one. */
  boolean approves(ServerId server, DefinitionKind kind, JsonSlice current, String currentDigest) {
    return digest.equals(currentDigest) && !isBlocked
        || approves(server, kind, current, DigestVersion.ALL);
  }

  /**
   * The same for a program that knows some versions of digests.
   *
   * @param versions the present one first
   */
  boolean approves(
      ServerId server, DefinitionKind kind, JsonSlice current, List<DigestVersion> versions) {
    return !isBlocked
        && versions.stream()
            .filter(version -> version.isOf(digest))
            .findFirst()
            .map(version -> digest.equals(version.digest(server, kind, current)))
            .orElseGet(() -> isAsKept(kind, current, versions.get(0)));
  }

  /** For a digest of a version that this program does not know. */
  private boolean isAsKept(DefinitionKind kind, JsonSlice current, DigestVersion present) {
    return definition != null
        && present.canonical(kind, definition).equals(present.canonical(kind, current));
  }
}
