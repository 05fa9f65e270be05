package dev.mcpbridge.http.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.access.Decision;
import dev.mcpbridge.access.Explanation;
import dev.mcpbridge.access.Explanation.RuleResult;
import dev.mcpbridge.call.AccessControl;
import dev.mcpbridge.call.AccessControl.Question;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.http.reply.Selections;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Explains the access rules: whether a caller may make a call, and what each rule contributes. A
 * caller may ask about itself; about others with the scope {@code admin}.
 */
public record AccessApi(AccessControl access, int maxDepth) {
  private static final Map<String, Target.Kind> KINDS =
      Map.of(
          "tool", Target.Kind.TOOL,
          "resource", Target.Kind.RESOURCE,
          "prompt", Target.Kind.PROMPT);
  private static final List<String> MEMBERS =
      List.of(
          "server", "tool", "resource", "prompt", "arguments", "as", "client", "roles", "scopes");

  /** GET /access/explain, with the members of the body of POST as parameters. */
  public void explainQuery(RoutingContext ctx) {
    ObjectNode question = Json.object();
    for (String name : MEMBERS) {
      String text = Queries.single(ctx, name);
      if (text == null) {
        continue;
      }
      switch (name) {
        case "arguments" ->
            question.set(
                name, exact(Arguments.read(text.getBytes(StandardCharsets.UTF_8), maxDepth)));
        case "roles", "scopes" ->
            Arrays.stream(text.split("[, ]+")).forEach(question.putArray(name)::add);
        default -> question.put(name, text);
      }
    }
    explain(ctx, question);
  }

  /** POST /access/explain. */
  public void explain(RoutingContext ctx) {
    explain(ctx, exact(Paths.arguments(ctx, maxDepth)));
  }

  private static JsonNode exact(Arguments arguments) {
    try {
      return Json.exactTree(arguments.json());
    } catch (IOException | NumberFormatException e) {
      throw invalid("A number cannot be compared");
    }
  }

  private void explain(RoutingContext ctx, JsonNode question) {
    Principal asking = Callers.of(ctx);
    question
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!MEMBERS.contains(name)) {
                throw invalid("Unknown member '" + name + "'; expected " + MEMBERS);
              }
            });
    List<String> kinds = KINDS.keySet().stream().filter(question::has).toList();
    if (kinds.size() != 1) {
      throw invalid("Expected one of tool, resource and prompt");
    }
    if (!access.policy().rules().isExplained() && !asking.may(Scope.ADMIN)) {
      throw new BridgeException(ErrorCode.FORBIDDEN, "The access rules are not explained");
    }
    Principal about = about(asking, question);
    Target target = new Target(KINDS.get(kinds.get(0)), text(question, kinds.get(0)));
    access
        .explain(
            asking,
            about,
            new Question(Selections.server(text(question, "server")), target, arguments(question)))
        .onSuccess(explanation -> Replies.json(ctx, 200, json(explanation, about, asking)))
        .onFailure(ctx::fail);
  }

  private static JsonNode arguments(JsonNode question) {
    JsonNode arguments = question.path("arguments");
    if (!arguments.isMissingNode() && !arguments.isObject()) {
      throw invalid("'arguments' must be an object");
    }
    return arguments.isMissingNode() ? Json.object() : arguments;
  }

  /** The caller itself, or the one that is described. */
  private Principal about(Principal asking, JsonNode question) {
    boolean isSelf =
        MEMBERS.subList(MEMBERS.indexOf("as"), MEMBERS.size()).stream().noneMatch(question::has);
    if (isSelf) {
      return asking;
    }
    asking.require(Scope.ADMIN);
    String name = text(question, "as");
    Set<String> scopes = texts(question, "scopes");
    int bar = name.indexOf('|');
    if (bar < 0 && !question.has("roles") && !question.has("scopes")) {
      return configured(name);
    }
    return new Principal(
        name,
        bar < 0 ? scopesOfKey(scopes) : Set.of(),
        texts(question, "roles"),
        bar < 0
            ? null
            : new Principal.Token(
                name.substring(0, bar),
                question.has("client") ? text(question, "client") : null,
                Long.MAX_VALUE,
                scopes,
                Map.of()));
  }

  private Principal configured(String key) {
    try {
      return access.renewed(new Principal(key, Set.of(), Set.of(), null));
    } catch (BridgeException unknown) {
      throw invalid("No API key has this name; describe the caller with 'roles' and 'scopes'");
    }
  }

  private static Set<Scope> scopesOfKey(Set<String> names) {
    try {
      return names.stream().map(Scope::of).collect(Collectors.toSet());
    } catch (IllegalArgumentException e) {
      throw invalid("The scopes of a key are read, call, approve and admin");
    }
  }

  private static JsonWriter json(Explanation explanation, Principal about, Principal asking) {
    boolean isAdmin = asking.may(Scope.ADMIN);
    Decision decision = explanation.decision();
    JsonWriter out =
        new JsonWriter(1024)
            .beginObject()
            .member("principal", about.name())
            .member("decision", decision instanceof Decision.Allowed ? "allow" : "deny")
            .member("rule", decision.rule())
            .member("listed", explanation.isListed());
    if (decision instanceof Decision.Allowed allowed) {
      out.member("risk_level_at_least", allowed.risk().number());
    } else if (!((Decision.Refused) decision).needs().isEmpty()) {
      out.name("needs").beginArray();
      ((Decision.Refused) decision).needs().stream().sorted().forEach(out::value);
      out.endArray();
    }
    out.name("rules").beginArray();
    explanation.rules().stream()
        .filter(result -> isAdmin || result.isOfCaller())
        .forEach(result -> write(out, result));
    return out.endArray().endObject();
  }

  private static void write(JsonWriter out, RuleResult result) {
    out.beginObject()
        .member("name", result.rule().name())
        .member("effect", result.isAllowing() ? "allow" : "deny")
        .member("applies", result.mismatch() == null);
    if (result.mismatch() != null) {
      out.member("reason", result.mismatch());
    }
    out.endObject();
  }

  private static String text(JsonNode question, String member) {
    if (!question.path(member).isTextual()) {
      throw invalid("'" + member + "' must be a string");
    }
    return question.path(member).textValue();
  }

  private static Set<String> texts(JsonNode question, String member) {
    JsonNode list = question.path(member);
    if (!list.isMissingNode() && !list.isArray()
        || list.valueStream().anyMatch(each -> !each.isTextual())) {
      throw invalid("'" + member + "' must be a list of strings");
    }
    return list.valueStream().map(JsonNode::textValue).collect(Collectors.toSet());
  }

  private static BridgeException invalid(String detail) {
    return new BridgeException(ErrorCode.INVALID_ARGUMENTS, detail);
  }
}
