package dev.mcpbridge.http.rest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.call.PinnedDefinitions;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.Callers;
import dev.mcpbridge.http.reply.PagedList;
import dev.mcpbridge.http.reply.Queries;
import dev.mcpbridge.http.reply.Replies;
import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.pins.Definition;
import dev.mcpbridge.pins.DefinitionDiff;
import dev.mcpbridge.pins.DefinitionKind;
import dev.mcpbridge.pins.Judgement;
import dev.mcpbridge.pins.Pin;
import dev.mcpbridge.pins.PinDecision;
import dev.mcpbridge.pins.ServerJudgement;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Shows which definitions of the servers are approved, changed, new, blocked or missing, and takes
 * decisions about them. For callers with the scope {@code approve}: a held definition may be an
 * attack on its readers.
 */
public record PinsApi(PinnedDefinitions definitions, int maxDepth) {
  private static final Set<String> MEMBERS = Set.of("kind", "name", "digest", "decision");
  private static final int MAX_DECISIONS = 10_000;

  /** GET /pins: the servers, with the number of definitions in each state. */
  public void list(RoutingContext ctx) {
    List<JsonSlice> servers =
        definitions.all(Callers.of(ctx)).stream().map(server -> summary(server)).toList();
    new PagedList("servers", servers, Integer.toHexString(servers.hashCode())).answer(ctx);
  }

  private JsonSlice summary(ServerJudgement server) {
    JsonWriter out = new JsonWriter(512).beginObject();
    head(out, server.whole().id(), Optional.of(server));
    return out.endObject().toSlice();
  }

  private void head(JsonWriter out, ServerId id, Optional<ServerJudgement> server) {
    PinRules rules = definitions.pins().rules(id);
    out.member("server", id.name())
        .member("changed", rules.changed().word())
        .member("new", rules.added().word())
        .member("first", rules.trustsFirst() ? "trust" : "ask");
    server.ifPresent(
        judged -> {
          out.member("digest", judged.digest()).name("states").beginObject();
          judged.counts().forEach((state, count) -> out.member(state.word(), count));
          out.endObject().member("held", judged.held());
        });
  }

  /** GET /servers/{server}/pins, with {@code ?state=} for some states, separated by commas. */
  public void show(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    ServerId server = Paths.server(ctx);
    List<String> states = states(ctx);
    definitions
        .of(caller, server)
        .onSuccess(judged -> answer(ctx, caller, server, judged, states))
        .onFailure(ctx::fail);
  }

  private static List<String> states(RoutingContext ctx) {
    String wanted = Queries.single(ctx, "state");
    List<String> known = Arrays.stream(Judgement.State.values()).map(s -> s.word()).toList();
    List<String> states = wanted == null ? known : List.of(wanted.split(","));
    if (!known.containsAll(states)) {
      throw invalid("'state' must be some of " + String.join(", ", known));
    }
    return states;
  }

  private void answer(
      RoutingContext ctx,
      Principal caller,
      ServerId server,
      Optional<ServerJudgement> judged,
      List<String> states) {
    List<JsonSlice> entries =
        judged.stream()
            .flatMap(each -> definitions.listed(caller, each).stream())
            .filter(each -> states.contains(each.state().word()))
            .map(PinsApi::json)
            .toList();
    JsonWriter out = new JsonWriter(4096).beginObject();
    head(out, server, judged);
    try {
      new PagedList("definitions", entries, Integer.toHexString(entries.hashCode()))
          .write(out, ctx);
      Replies.json(ctx, 200, out.endObject());
    } catch (BridgeException e) {
      ctx.fail(e);
    }
  }

  private static JsonSlice json(Judgement judgement) {
    JsonWriter out =
        new JsonWriter(512)
            .beginObject()
            .member("kind", judgement.name().kind().word())
            .member("name", judgement.name().text())
            .member("state", judgement.state().word())
            .member("held", judgement.isHeld());
    if (judgement.digest() != null) {
      out.member("digest", judgement.digest());
    }
    Pin pin = judgement.pin();
    if (pin != null) {
      out.name(pin.isBlocked() ? "blocked" : "approved")
          .beginObject()
          .member("digest", pin.digest())
          .member("at", pin.at())
          .member("by", pin.by())
          .endObject();
    }
    boolean isDifferent =
        judgement.current() != null && judgement.state() != Judgement.State.APPROVED;
    if (isDifferent) {
      differences(out, DefinitionDiff.of(judgement));
    }
    return out.endObject().toSlice();
  }

  private static void differences(JsonWriter out, DefinitionDiff diff) {
    out.name("findings").beginArray();
    diff.findings().forEach(finding -> out.value(finding.word()));
    out.endArray().name("differences").beginArray();
    for (DefinitionDiff.Difference difference : diff.differences()) {
      out.beginObject().member("at", difference.at());
      if (difference.before() != null) {
        out.member("before", difference.before());
      }
      if (difference.after() != null) {
        out.member("after", difference.after());
      }
      out.endObject();
    }
    out.endArray();
    if (!diff.isWhole()) {
      out.member("more", true);
    }
  }

  /**
   * POST /servers/{server}/pins: {@code {"decisions": [{"kind": "tool", "name": …, "digest": …,
   * "decision": "approve"}]}}. The digest is that of the definition that was shown.
   */
  public void decide(RoutingContext ctx) {
    Principal caller = Callers.of(ctx);
    ServerId server = Paths.server(ctx);
    definitions
        .decide(caller, server, decisions(Paths.arguments(ctx, maxDepth).tree()))
        .compose(decided -> definitions.of(caller, server))
        .onSuccess(judged -> answer(ctx, caller, server, judged, List.of()))
        .onFailure(ctx::fail);
  }

  private static List<PinDecision> decisions(JsonNode body) {
    JsonNode list = body.path("decisions");
    if (!list.isArray() || list.isEmpty() || list.size() > MAX_DECISIONS || body.size() > 1) {
      throw invalid("Expected only 'decisions', a list with 1 to " + MAX_DECISIONS + " elements");
    }
    List<PinDecision> decisions = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      decisions.add(decision("decisions[" + i + "]", list.get(i)));
    }
    return decisions;
  }

  private static PinDecision decision(String at, JsonNode decision) {
    decision
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!MEMBERS.contains(name)) {
                throw invalid(at + " has an unknown member '" + name + "'");
              }
            });
    DefinitionKind kind =
        DefinitionKind.of(decision.path("kind").asText())
            .orElseThrow(
                () -> invalid(at + ".kind must be tool, prompt, template or instructions"));
    boolean isNamed = decision.path("name").isTextual() || kind == DefinitionKind.INSTRUCTIONS;
    String word = decision.path("decision").asText();
    if (!isNamed || !decision.path("digest").isTextual()) {
      throw invalid(at + " needs the name, and the digest that was shown");
    }
    if (!word.equals("approve") && !word.equals("block")) {
      throw invalid(at + ".decision must be approve or block");
    }
    return new PinDecision(
        new Definition.Name(kind, decision.path("name").asText()),
        word.equals("approve"),
        decision.path("digest").textValue());
  }

  private static BridgeException invalid(String detail) {
    return new BridgeException(ErrorCode.INVALID_ARGUMENTS, HiddenCharacters.escaped(detail));
  }
}
