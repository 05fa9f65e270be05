package dev.mcpbridge.bus;

import dev.mcpbridge.error.Executed;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.Target;
import java.util.List;
import java.util.Locale;

/** The addresses of the gate, with the types of their messages. */
public final class Gate {
  /** Asks the gate whether a target of a server may run. */
  public static final Address<Assessment, Decision> ASSESS = Address.local("risk.assess");

  /** The gate's current grading, for lists. The request is null. */
  public static final Address<Void, RiskGrading> GRADING = Address.local("risk.grading");

  /** Stores a call until a human decides. */
  public static final Address<ConfirmationRequest, PendingConfirmation> CONFIRM_LATER =
      Address.local("risk.confirmations.add");

  /** A human's decision. Returns the call to run after an approval, null after a rejection. */
  public static final Address<HumanDecision, Confirmation> DECIDE =
      Address.local("risk.confirmations.decide");

  /** Reports that the call of an approved confirmation has ended. */
  public static final Address<ApprovedOutcome, Void> APPROVED_ENDED =
      Address.local("risk.confirmations.ended");

  /** The state of one confirmation. */
  public static final Address<ConfirmationQuery, ConfirmationState> CONFIRMATION =
      Address.local("risk.confirmations.look");

  /** The confirmations that a viewer may see. */
  public static final Address<ConfirmationList, List<ConfirmationState>> CONFIRMATIONS =
      Address.local("risk.confirmations.list");

  private Gate() {}

  /**
   * A request to the gate.
   *
   * @param atLeast level that the call has at least, by other rules than those of the gate
   */
  public record Assessment(
      Target target, RiskRules rules, boolean destructive, RiskLevel atLeast) {}

  /** The gate's decision. */
  public enum Decision {
    ALLOW,
    CONFIRM,
    ISOLATE
  }

  /**
   * A call that needs a human's approval.
   *
   * @param definitionDigest digest of the tool's current definition
   */
  public record ConfirmationRequest(Call call, String definitionDigest) {}

  /**
   * A call that waits for a decision.
   *
   * @param token shown once to the caller; null if an operator decides
   */
  public record PendingConfirmation(Confirmation confirmation, String token) {}

  /**
   * A human's decision about a confirmation.
   *
   * @param token null if none was sent
   * @param reason of a rejection, for the caller; empty if none was given
   */
  public record HumanDecision(
      String confirmationId, boolean confirm, String token, Viewer by, String reason) {
    public HumanDecision(String confirmationId, boolean confirm, String token, Viewer by) {
      this(confirmationId, confirm, token, by, "");
    }
  }

  /** Whether an approved call was executed. */
  public record ApprovedOutcome(String id, Executed executed) {}

  /**
   * A principal that reads or decides confirmations.
   *
   * @param approver whether it has the scope {@code approve}
   */
  public record Viewer(String name, boolean approver) {}

  /**
   * A query for many confirmations.
   *
   * @param isPending whether those that wait are wanted, and not those that were decided or have
   *     expired
   */
  public record ConfirmationList(Viewer by, boolean isPending) {}

  /** A query for one confirmation. */
  public record ConfirmationQuery(String id, Viewer by) {}

  /**
   * The state of a confirmation.
   *
   * @param confirmation without arguments once it is decided
   * @param executed whether its call was executed; null before it is decided
   * @param ruling null if no one has decided
   */
  public record ConfirmationState(
      Confirmation confirmation, Status status, Executed executed, Ruling ruling) {

    /**
     * Who has decided.
     *
     * @param by empty if a node of an older version has stored it
     * @param reason empty if none was given
     */
    public record Ruling(String by, String reason, long atMillis) {}

    /** The decision. */
    public enum Status {
      PENDING,
      APPROVED,
      REJECTED,
      EXPIRED;

      /** The value in the API. */
      public String word() {
        return name().toLowerCase(Locale.ROOT);
      }
    }
  }
}
