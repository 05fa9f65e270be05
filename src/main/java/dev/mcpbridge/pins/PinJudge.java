package dev.mcpbridge.pins;

import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.PinRules.Reaction;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.pins.Judgement.State;
import java.util.LinkedHashMap;
import java.util.Map;

/** Compares the definitions of a server with its pins. Confined to the event loop. */
final class PinJudge {
  private static final int MAX_DIGESTS = 20_000;

  /** Digests of tools that were computed before, by server and digest of the whole entry. */
  private final Map<String, String> digests = new BoundedMap<>(MAX_DIGESTS);

  /**
   * What a judgement depends on.
   *
   * @param version of the pins in the shared map
   * @param isCurrent whether this node has received the pins of the others
   */
  record Basis(PinRules rules, long version, boolean isCurrent) {}

  /**
   * The judgements by name: about the definitions of the server in its order, then about those that
   * are missing.
   *
   * @param pins null if the server was never seen
   */
  Map<Name, Judgement> judge(ServerView server, Basis basis, ServerPins pins) {
    Map<Name, Judgement> all = new LinkedHashMap<>();
    Definition.of(server.catalogue(), server.identity())
        .forEach((name, definition) -> all.put(name, judge(server, basis, pins, definition)));
    if (pins != null) {
      pins.all()
          .forEach(
              (name, pin) ->
                  all.computeIfAbsent(
                      name,
                      gone ->
                          new Judgement(
                              gone,
                              pin.isBlocked() ? State.BLOCKED : State.MISSING,
                              pin.isBlocked(),
                              null,
                              null,
                              pin)));
    }
    return all;
  }

  private Judgement judge(ServerView server, Basis basis, ServerPins pins, Definition definition) {
    Name name = definition.name();
    String digest = digest(server, definition);
    Pin pin = pins == null ? null : pins.of(name);
    State state = state(server, basis, pins, pin, definition, digest);
    boolean isHeld =
        switch (state) {
          case BLOCKED -> true;
          case CHANGED -> basis.rules.changed() == Reaction.BLOCK;
          case NEW ->
              !basis.isCurrent // its pin may not have arrived
                  || basis.rules.added() == Reaction.BLOCK;
          case APPROVED, MISSING -> false;
        };
    return new Judgement(name, state, isHeld, definition.json(), digest, pin);
  }

  private static State state(
      ServerView server,
      Basis basis,
      ServerPins pins,
      Pin pin,
      Definition definition,
      String digest) {
    if (pin == null) {
      boolean isTrusted =
          pins == null ? basis.rules.trustsFirst() : basis.rules.added() == Reaction.OFF;
      return basis.isCurrent && isTrusted ? State.APPROVED : State.NEW;
    }
    if (pin.isBlocked()) {
      return State.BLOCKED;
    }
    return pin.approves(server.id(), definition.name().kind(), definition.json(), digest)
        ? State.APPROVED
        : State.CHANGED;
  }

  private String digest(ServerView server, Definition definition) {
    Name name = definition.name();
    DigestVersion version = DigestVersion.ALL.get(0);
    if (name.kind() != DefinitionKind.TOOL) {
      return version.digest(server.id(), name.kind(), definition.json());
    }
    Tool tool = server.catalogue().tools().get(name.text());
    String key = server.id().name() + '/' + tool.digest();
    String known = digests.get(key);
    if (known == null) {
      known = version.digest(server.id(), name.kind(), definition.json());
      digests.put(key, known);
    }
    return known;
  }
}
