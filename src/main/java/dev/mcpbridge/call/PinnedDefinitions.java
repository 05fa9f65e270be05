package dev.mcpbridge.call;

import dev.mcpbridge.access.AccessPolicy;
import dev.mcpbridge.access.Item;
import dev.mcpbridge.access.ServerRights;
import dev.mcpbridge.config.PinsConfig;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition;
import dev.mcpbridge.pins.DefinitionKind;
import dev.mcpbridge.pins.Judgement;
import dev.mcpbridge.pins.PinDecision;
import dev.mcpbridge.pins.PinStore;
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.pins.ServerJudgement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/**
 * The definitions of the servers and what was decided about them, as far as the access rules list
 * them to the person who asks. Confined to the HTTP verticle.
 */
public record PinnedDefinitions(
    Pins pins, PinStore store, Directory directory, AccessControl access) {

  /** Judges by other rules from now on. */
  public void reload(PinsConfig next) {
    pins.reload(next);
    directory.judgeAgain();
  }

  /**
   * A server that the caller sees. Empty if its definitions are not judged, or not known yet.
   *
   * @return fails with SERVER_NOT_FOUND, NO_QUORUM or FORBIDDEN
   */
  public Future<Optional<ServerJudgement>> of(Principal caller, ServerId server) {
    return access.find(caller, server).map(visible -> pins.known(server));
  }

  /** All servers that the caller sees and whose definitions are judged. */
  public List<ServerJudgement> all(Principal caller) {
    return access.all(caller).stream()
        .map(ServerView::id)
        .flatMap(server -> pins.known(server).stream())
        .toList();
  }

  /** The judgements of a server that the caller may list, by name. */
  public List<Judgement> listed(Principal caller, ServerJudgement server) {
    AccessPolicy policy = access.policy();
    if (!policy.rules().restrict()) {
      return List.copyOf(server.all().values());
    }
    ServerRights rights = policy.of(caller).at(server.shown());
    return server.all().values().stream().filter(each -> isListed(rights, server, each)).toList();
  }

  private static boolean isListed(
      ServerRights rights, ServerJudgement server, Judgement judgement) {
    Definition.Name name = judgement.name();
    Tool tool =
        name.kind() == DefinitionKind.TOOL
            ? server.whole().catalogue().tools().get(name.text())
            : null;
    if (tool != null) {
      return rights.at(tool).isListed();
    }
    Item.Kind kind = name.kind().item();
    return kind == null || rights.at(kind, name.text()).isListed();
  }

  /**
   * Applies decisions of a caller about definitions that it may list, all or none.
   *
   * @return fails like {@link Pins#decide}
   */
  public Future<Void> decide(Principal caller, ServerId server, List<PinDecision> decisions) {
    return of(caller, server)
        .compose(
            found -> {
              List<Definition.Name> listed =
                  found.stream()
                      .flatMap(judged -> listed(caller, judged).stream())
                      .map(Judgement::name)
                      .toList();
              decisions.stream()
                  .filter(decision -> !listed.contains(decision.name()))
                  .forEach(
                      decision -> {
                        throw decision.notFound(server);
                      });
              return pins.decide(server, decisions, caller.name());
            });
  }
}
