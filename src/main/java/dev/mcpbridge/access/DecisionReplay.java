package dev.mcpbridge.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Judges the recorded calls of an audit trail by other rules. Not thread-safe. */
public final class DecisionReplay {
  private final AccessPolicy policy;

  /** How the rules would decide, compared with the record. */
  public enum Verdict {
    SAME,
    NOW_REFUSED,
    NOW_ALLOWED,
    /** The rules ask for arguments or annotations, which the record has not. */
    UNDECIDED
  }

  /**
   * What became of a record.
   *
   * @param rule the rule that decides now
   */
  public record Result(Verdict verdict, String rule) {}

  public DecisionReplay(AccessRules rules) {
    this.policy = new AccessPolicy(rules);
  }

  /**
   * Judges a record.
   *
   * @return empty for a record that is not about the access to a tool, prompt or resource
   */
  public Optional<Result> judge(JsonNode record) {
    String decision = record.path("decision").asText();
    boolean wasRefused = decision.equals("refuse");
    Item.Kind kind = kind(record.path("kind").asText());
    boolean isAboutAccess =
        record.path("event").asText().equals("call.decision")
            && kind != null
            && !record.has("confirmation")
            && (!wasRefused || record.has("rule"));
    if (!isAboutAccess) {
      return Optional.empty();
    }
    ServerId server = new ServerId(record.path("server").asText());
    Item item = Item.of(server, kind, record.path("name").asText());
    return Optional.of(judge(record, principal(record), item, wasRefused));
  }

  private Result judge(JsonNode record, Principal caller, Item item, boolean wasRefused) {
    if (!policy.rules().restrict()) {
      return new Result(wasRefused ? Verdict.NOW_ALLOWED : Verdict.SAME, Decision.DEFAULT);
    }
    Action action = item.kind().use();
    JsonNode arguments = record.path("arguments");
    if (isUndecided(caller, item, action, arguments.isObject())) {
      return new Result(Verdict.UNDECIDED, "");
    }
    JsonNode known = arguments.isObject() ? arguments : Json.object();
    Decision decision = ItemRights.of(policy.of(caller), item).decide(action, known::at);
    boolean isRefused = !(decision instanceof Decision.Allowed);
    Verdict verdict =
        isRefused == wasRefused
            ? Verdict.SAME
            : isRefused ? Verdict.NOW_REFUSED : Verdict.NOW_ALLOWED;
    return new Result(verdict, decision.rule());
  }

  private boolean isUndecided(Principal caller, Item item, Action action, boolean hasArguments) {
    return policy.rules().rules().stream()
        .filter(rule -> rule.who().mismatch(caller) == null && rule.isAbout(action))
        .filter(rule -> rule.items().select(item.server(), item.kind(), item.name()))
        .anyMatch(
            rule ->
                !rule.items().annotations().isEmpty()
                    || !hasArguments && !rule.arguments().isEmpty());
  }

  private static Item.Kind kind(String noun) {
    return switch (noun) {
      case "tool" -> Item.Kind.TOOL;
      case "prompt" -> Item.Kind.PROMPT;
      case "resource" -> Item.Kind.RESOURCE;
      default -> null;
    };
  }

  /**
   * The caller with the rights that it had. A name with a bar is that of a token's subject; every
   * key that calls has a scope.
   */
  private static Principal principal(JsonNode record) {
    String name = record.path("principal").asText();
    Set<String> scopes = texts(record.path("scopes"));
    Set<String> roles = texts(record.path("roles"));
    int bar = name.indexOf('|');
    if (bar >= 0) {
      String client = record.path("client").asText(null);
      return new Principal(
          name,
          Set.of(),
          roles,
          new Principal.Token(name.substring(0, bar), client, Long.MAX_VALUE, scopes, Map.of()));
    }
    return record.has("address") && scopes.isEmpty()
        ? Principal.ANONYMOUS
        : new Principal(
            name, scopes.stream().map(Scope::of).collect(Collectors.toSet()), roles, null);
  }

  private static Set<String> texts(JsonNode list) {
    return list.valueStream().map(JsonNode::asText).collect(Collectors.toSet());
  }
}
