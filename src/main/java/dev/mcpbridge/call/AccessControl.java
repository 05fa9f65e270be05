package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.access.AccessPolicy;
import dev.mcpbridge.access.AccessRules;
import dev.mcpbridge.access.AccessRules.Concealment;
import dev.mcpbridge.access.Action;
import dev.mcpbridge.access.Decision;
import dev.mcpbridge.access.DeniedByRule;
import dev.mcpbridge.access.Explanation;
import dev.mcpbridge.access.Item;
import dev.mcpbridge.access.ItemRights;
import dev.mcpbridge.access.Rights;
import dev.mcpbridge.access.ServerRights;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Arguments;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

/**
 * Applies the access rules: to the servers and catalogues that a caller sees, at every door, and to
 * calls, in the pipeline. Both come from the same {@link ItemRights}. Confined to the HTTP
 * verticle.
 */
public final class AccessControl {
  private static final RateLimitedLogger REFUSALS =
      new RateLimitedLogger(System.getLogger(AccessControl.class.getName()));

  private final Directory directory;
  private final ConsentTickets consents;
  private final Counts counts;
  private final UnaryOperator<Principal> current;
  private final List<BiConsumer<AccessPolicy, AccessPolicy>> listeners = new ArrayList<>();
  private AccessPolicy policy;

  /**
   * A question about a call.
   *
   * @param arguments its arguments as an object
   */
  public record Question(ServerId server, Target target, JsonNode arguments) {}

  /**
   * @param consents the consents that callers are asked for
   * @param current the principal with the rights that its credential has now; throws if it has lost
   *     its credential
   */
  public AccessControl(
      Directory directory,
      ConsentTickets consents,
      Counts counts,
      AccessRules rules,
      UnaryOperator<Principal> current) {
    this.directory = directory;
    this.consents = consents;
    this.counts = counts;
    this.policy = new AccessPolicy(rules);
    this.current = current;
  }

  /**
   * The principal of an earlier request with its present rights.
   *
   * @throws BridgeException FORBIDDEN if it has lost its credential
   */
  public Principal renewed(Principal earlier) {
    return current.apply(earlier);
  }

  /** The rights of a caller; those with the same rights share the object. */
  public Rights rights(Principal caller) {
    return policy.of(caller);
  }

  /** The risk level that the rules raise all calls of a tool to. */
  public RiskLevel leastRisk(Principal caller, ServerId server, Tool tool) {
    return policy.rules().isEnforced()
        ? directory
            .known(server)
            .map(view -> policy.of(caller).at(view).at(tool).leastRisk())
            .orElse(RiskLevel.LOW)
        : RiskLevel.LOW;
  }

  /** Whether a caller learns that something exists that it may not list. */
  boolean tellsOfUnlisted() {
    return policy.rules().concealment() != Concealment.ALL;
  }

  /** The consents that callers are asked for. */
  ConsentTickets consents() {
    return consents;
  }

  /** Whether a server exists, visible or not. */
  boolean exists(ServerId id) {
    return directory.exists(id);
  }

  /** Replaces the rules, and tells the listeners the policy before and after. */
  public void reload(AccessRules rules) {
    AccessPolicy before = policy;
    policy = new AccessPolicy(rules);
    listeners.forEach(listener -> listener.accept(before, policy));
  }

  public void onReload(BiConsumer<AccessPolicy, AccessPolicy> listener) {
    listeners.add(listener);
  }

  public AccessPolicy policy() {
    return policy;
  }

  /** The servers that a caller sees, as last published, with what it may list. */
  public List<ServerView> all(Principal caller) {
    return directory.all().stream()
        .map(server -> seen(policy, caller, server))
        .filter(Objects::nonNull)
        .toList();
  }

  /** Whether a caller sees a server. */
  public boolean sees(Principal caller, ServerId id) {
    return directory.known(id).map(server -> isVisible(caller, server)).orElse(false);
  }

  /** A server as a caller sees it. Fails with SERVER_NOT_FOUND, NO_QUORUM or FORBIDDEN. */
  public Future<ServerView> find(Principal caller, ServerId id) {
    return visible(caller, id).map(server -> seen(policy, caller, server));
  }

  /** A server with its current counters, as a caller sees it. */
  public Future<ServerView> current(Principal caller, ServerId id) {
    return visible(caller, id)
        .compose(server -> directory.current(id))
        .map(server -> requireSeen(caller, server));
  }

  /** A server with a catalogue, as a caller sees it. Waits for its first start. */
  public Future<ServerView> discovered(Principal caller, ServerId id) {
    return whole(caller, id).map(server -> requireSeen(caller, server));
  }

  /**
   * A server that a caller sees, with its whole catalogue. Waits for its first start; a server that
   * is not visible is not started.
   */
  Future<ServerView> whole(Principal caller, ServerId id) {
    Optional<ServerView> known = directory.known(id);
    if (known.isPresent() && known.get().isDiscovered() && isVisible(caller, known.get())) {
      return Future.succeededFuture(known.get());
    }
    return visible(caller, id)
        .compose(server -> directory.discovered(id))
        .recover(failure -> consents.explained(caller, id, failure))
        .map(server -> requireVisible(caller, server));
  }

  private Future<ServerView> visible(Principal caller, ServerId id) {
    return directory.find(id).map(server -> requireVisible(caller, server));
  }

  private boolean isVisible(Principal caller, ServerView server) {
    return !policy.rules().restrict() || policy.of(caller).at(server).isVisible();
  }

  private ServerView requireVisible(Principal caller, ServerView server) {
    requireSeen(caller, server);
    return server;
  }

  private ServerView requireSeen(Principal caller, ServerView server) {
    ServerView seen = seen(policy, caller, server);
    if (seen != null) {
      return seen;
    }
    REFUSALS.log(
        "hidden " + caller.name() + " " + server.id(),
        false,
        () -> "server=" + server.id() + " caller=" + caller.name() + " access=hidden");
    BridgeException refusal =
        policy.rules().concealment() == Concealment.NONE
            ? new BridgeException(
                ErrorCode.FORBIDDEN,
                "The access rules allow nothing of server '" + server.id() + "' to this caller")
            : directory.notFound(server.id());
    throw refusal.because(new DeniedByRule(Decision.DEFAULT));
  }

  /** A server as callers with some rights see it; null if they do not. */
  static ServerView seen(AccessPolicy policy, Principal caller, ServerView server) {
    if (!policy.rules().restrict()) {
      return server;
    }
    ServerRights rights = policy.of(caller).at(server);
    if (!rights.isVisible()) {
      return null;
    }
    boolean isWhole = !server.isDiscovered() || rights.listed() == server.catalogue();
    return isWhole ? server : server.withCatalogue(rights.listed());
  }

  /** What a caller sees of the catalogue of a server. */
  public static Catalogue listed(AccessPolicy policy, Principal caller, ServerView server) {
    ServerView seen = seen(policy, caller, server);
    return seen == null || !seen.isDiscovered() ? Catalogue.EMPTY : seen.catalogue();
  }

  /** Whether a caller may list a tool. */
  public boolean lists(Principal caller, ServerId server, String tool) {
    return directory
        .known(server)
        .map(view -> seen(policy, caller, view))
        .filter(ServerView::isDiscovered)
        .map(view -> view.catalogue().tools().containsKey(tool))
        .orElse(false);
  }

  /** Whether a caller may be notified of changes of a resource. */
  public boolean maySubscribe(Principal caller, ServerId server, String uri) {
    return !policy.rules().restrict()
        || directory
            .known(server)
            .map(view -> policy.of(caller).at(view).at(Item.Kind.RESOURCE, uri))
            .map(rights -> rights.decide(Action.SUBSCRIBE, place -> null))
            .filter(Decision.Allowed.class::isInstance)
            .isPresent();
  }

  /**
   * Explains what a caller may do. Fails with SERVER_NOT_FOUND or TOOL_NOT_FOUND, also for what the
   * asking caller may not know of.
   *
   * @param about the caller itself, or another one
   */
  public Future<Explanation> explain(Principal asking, Principal about, Question question) {
    return whole(asking, question.server()).map(server -> explain(asking, about, question, server));
  }

  private Explanation explain(
      Principal asking, Principal about, Question question, ServerView server) {
    Target target = question.target();
    Item item = Item.of(server.id(), kind(target), target.name());
    if (target.kind() == Target.Kind.TOOL) {
      Tool tool = server.catalogue().tools().get(target.name());
      boolean isTold =
          tool != null
              && (asking != about
                  || tellsOfUnlisted()
                  || lists(asking, server.id(), target.name()));
      if (!isTold) {
        throw CallPipeline.unknownTool();
      }
      item = ServerRights.item(server.id(), tool);
    }
    return Explanation.of(policy, about, item, AccessCheck.action(target), question.arguments());
  }

  private static Item.Kind kind(Target target) {
    return target.kind() == Target.Kind.PROMPT ? Item.Kind.PROMPT : Item.Kind.RESOURCE;
  }

  /**
   * Requires that a call is allowed.
   *
   * @param tool the tool that is called; null for other targets
   * @throws BridgeException FORBIDDEN, INSUFFICIENT_SCOPE, or as for a target that does not exist
   */
  Permission require(
      Principal caller, ServerView server, Target target, Tool tool, Arguments arguments) {
    return policy.rules() == AccessRules.NONE
        ? Permission.UNRESTRICTED
        : new AccessCheck(policy, server, target, tool, arguments).require(caller, counts);
  }
}
