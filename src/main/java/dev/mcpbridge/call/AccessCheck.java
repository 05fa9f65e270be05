package dev.mcpbridge.call;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.access.AccessPolicy;
import dev.mcpbridge.access.AccessRules.Concealment;
import dev.mcpbridge.access.Action;
import dev.mcpbridge.access.Decision;
import dev.mcpbridge.access.DeniedByRule;
import dev.mcpbridge.access.Item;
import dev.mcpbridge.access.ItemRights;
import dev.mcpbridge.access.ServerRights;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.metrics.Event;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;

/**
 * A call as the access rules judge it, from which every door refuses in the same words.
 *
 * @param tool the tool that is called; null for other targets
 */
record AccessCheck(
    AccessPolicy policy, ServerView server, Target target, Tool tool, Arguments arguments) {
  private static final RateLimitedLogger REFUSALS =
      new RateLimitedLogger(System.getLogger(AccessCheck.class.getName()));

  /**
   * Requires that a caller may make the call; only reports it if the rules are not enforced.
   *
   * @throws BridgeException FORBIDDEN, INSUFFICIENT_SCOPE, or as for a target that does not exist
   */
  Permission require(Principal caller, Counts counts) {
    boolean isEnforced = policy.rules().isEnforced();
    Decision decision = decide(caller);
    if (decision instanceof Decision.Allowed allowed) {
      counts.count(Event.ACCESS_DECISION, "allow", allowed.rule());
      return isEnforced ? new Permission(allowed.risk(), null) : Permission.UNRESTRICTED;
    }
    String verdict = isEnforced ? "deny" : "would_deny";
    counts.count(Event.ACCESS_DECISION, verdict, decision.rule());
    REFUSALS.log(
        caller.name() + " " + server.id() + " " + decision.rule(),
        !isEnforced,
        () ->
            "server=%s %s=%s caller=%s access=%s rule=%s"
                .formatted(
                    server.id(),
                    target.kind().noun(),
                    HiddenCharacters.escaped(target.name()),
                    caller.name(),
                    verdict,
                    decision.rule()));
    if (isEnforced) {
      throw refusal(caller, (Decision.Refused) decision).because(new DeniedByRule(decision.rule()));
    }
    return new Permission(RiskLevel.LOW, decision.rule());
  }

  private Decision decide(Principal caller) {
    ServerRights rights = policy.of(caller).at(server);
    return rights(rights).decide(action(target), this::argument);
  }

  /** What a call does with its target. */
  static Action action(Target target) {
    return switch (target.kind()) {
      case TOOL -> Action.CALL;
      case RESOURCE -> Action.READ;
      case PROMPT -> Action.GET;
      case COMPLETION -> Action.COMPLETE;
    };
  }

  private ItemRights rights(ServerRights rights) {
    return switch (target.kind()) {
      case TOOL -> rights.at(tool);
      case RESOURCE -> rights.at(Item.Kind.RESOURCE, target.name());
      case PROMPT -> rights.at(Item.Kind.PROMPT, target.name());
      case COMPLETION -> completed(rights);
    };
  }

  /** The rights at what a completion is for. */
  private ItemRights completed(ServerRights rights) {
    JsonSlice reference =
        JsonObjects.members(arguments.json()).getOrDefault("ref", JsonSlice.EMPTY_OBJECT);
    Map<String, JsonSlice> members = JsonObjects.members(reference);
    String name = JsonObjects.string(members.get("name"));
    String uri = JsonObjects.string(members.get("uri"));
    return uri != null || name == null
        ? rights.at(Item.Kind.TEMPLATE, Objects.requireNonNullElse(uri, ""))
        : rights.at(Item.Kind.PROMPT, name);
  }

  /** The tree of arguments has rounded decimals, with which conditions on numbers can be evaded. */
  private JsonNode argument(JsonPointer pointer) {
    JsonNode value = arguments.tree().at(pointer);
    return value.isDouble() || value.isContainerNode() ? exact().at(pointer) : value;
  }

  private JsonNode exact() {
    try {
      return Json.exactTree(arguments.json());
    } catch (IOException | NumberFormatException e) {
      throw new BridgeException(
          ErrorCode.INVALID_ARGUMENTS, "The arguments have a number that cannot be compared");
    }
  }

  private BridgeException refusal(Principal caller, Decision.Refused refused) {
    boolean isListed = !refused.needs().isEmpty();
    if (policy.rules().concealment() == Concealment.ALL && !isListed) {
      return target.kind() == Target.Kind.TOOL
          ? CallPipeline.unknownTool()
          : new BridgeException(ErrorCode.NOT_FOUND, "Unknown " + target.kind().noun());
    }
    BridgeException failure =
        refused.needs().isEmpty() ? forbidden(refused) : needs(caller, refused);
    return policy.rules().isExplained() ? failure.with("rule", refused.rule()) : failure;
  }

  /** All that the call needs. A caller whose call was approved later has no names of scopes. */
  private static BridgeException needs(Principal caller, Decision.Refused refused) {
    TreeSet<String> scopes = new TreeSet<>(refused.needs());
    Optional.ofNullable(caller.token().scopeNames().get(Scope.CALL)).ifPresent(scopes::add);
    String all = String.join(" ", scopes);
    return new BridgeException(
            ErrorCode.INSUFFICIENT_SCOPE, "A token with the scopes '" + all + "' is required")
        .with("scope", all);
  }

  private BridgeException forbidden(Decision.Refused refused) {
    boolean isNamed = target.kind() != Target.Kind.COMPLETION;
    String name = isNamed ? " '" + target.name() + "'" : "";
    String what = target.kind().noun() + name + " of server '" + server.id() + "'";
    String contact = policy.rules().contact();
    return new BridgeException(
        ErrorCode.FORBIDDEN,
        reason(what, refused.rule())
            + ". Repeating the call does not help"
            + (contact == null ? "" : "; ask " + contact));
  }

  private String reason(String what, String rule) {
    if (!policy.rules().isExplained()) {
      return "Access to the " + what + " is denied";
    }
    return rule.equals(Decision.DEFAULT)
        ? "No access rule allows this caller to use the " + what + " in this way"
        : "The access rule '" + rule + "' denies the " + what;
  }
}
