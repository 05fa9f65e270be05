package dev.mcpbridge.call;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.pins.DefinitionDiff;
import dev.mcpbridge.pins.DefinitionKind;
import dev.mcpbridge.pins.Judgement;
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.pins.ServerJudgement;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds what a human needs to know about a call that waits, beside the call itself. For approvers
 * only: a definition may be held from its caller. Confined to the HTTP verticle.
 */
public record ApprovalReviews(Bus bus, AccessControl access, Pins pins) {

  /**
   * What is known about the tool or prompt of a call.
   *
   * @param reason of the risk level
   * @param definition null if the target has none
   * @param approved the definition that was approved last; null if it is the present one, or if
   *     definitions are not compared
   * @param findings what differs
   * @param isChanged whether it is not the one that was shown, so that the call cannot run
   */
  public record Review(
      Risk.Reason reason,
      JsonSlice definition,
      JsonSlice approved,
      Set<DefinitionDiff.Finding> findings,
      boolean isChanged) {}

  /** The review of a pending call; empty if its caller does not see the server at present. */
  public Future<Optional<Review>> of(Confirmation confirmation) {
    Call call = confirmation.call();
    return Future.all(
            access.whole(call.caller().principal(), call.server()), bus.request(Gate.GRADING, null))
        .map(both -> Optional.of(review(confirmation, both.resultAt(0), both.resultAt(1))))
        .otherwise(Optional.empty());
  }

  private Review review(Confirmation confirmation, ServerView server, RiskGrading grading) {
    Target target = confirmation.call().target();
    Tool tool = target.kind() == Target.Kind.TOOL ? tool(server, target.name()) : null;
    boolean isDestructive = tool != null && tool.destructive();
    RiskLevel atLeast =
        tool == null
            ? RiskLevel.LOW
            : access.leastRisk(confirmation.call().caller().principal(), server.id(), tool);
    Risk risk = grading.grade(target, server.risk(), isDestructive).raisedTo(atLeast);
    boolean isChanged =
        !CallPipeline.definitionDigest(server, tool).equals(confirmation.definitionDigest());
    Judgement judgement = judgement(target, server);
    if (judgement == null || judgement.current() == null) {
      JsonSlice definition = tool == null ? null : tool.definition();
      return new Review(risk.reason(), definition, null, Set.of(), isChanged);
    }
    boolean isDifferent =
        judgement.state() == Judgement.State.CHANGED && judgement.pin().definition() != null;
    return new Review(
        risk.reason(),
        judgement.canonical(),
        isDifferent ? judgement.pin().definition() : null,
        isDifferent ? DefinitionDiff.of(judgement).findings() : Set.of(),
        isChanged);
  }

  /** A tool that is held is graded like any other. */
  private Tool tool(ServerView server, String name) {
    Tool offered = server.catalogue().tools().get(name);
    return offered == null ? pins.heldTool(server.id(), name) : offered;
  }

  private Judgement judgement(Target target, ServerView server) {
    DefinitionKind kind = DefinitionKind.of(target.kind());
    Map<Name, Judgement> all = pins.known(server.id()).map(ServerJudgement::all).orElse(Map.of());
    return kind == null ? null : all.get(new Name(kind, target.name()));
  }
}
