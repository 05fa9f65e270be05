package dev.mcpbridge.http.rest;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.pins.DefinitionKind;
import dev.mcpbridge.pins.Judgement;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The tools of one server with their risk, computed once per catalogue and grading. Immutable.
 *
 * @param grading the grading of the gate
 * @param judgements by the pins; empty if the definitions are not judged
 * @param unusable reasons why input schemas cannot be used, by tool name; may be incomplete
 * @param tag entity tag, which changes with the tools, their levels and their warnings
 */
record GradedTools(
    Catalogue catalogue,
    RiskRules rules,
    RiskGrading grading,
    Map<Name, Judgement> judgements,
    Map<String, String> unusable,
    List<Graded> tools,
    String tag) {

  /** Members that only the bridge may set; those sent by a server are removed. */
  private static final Set<String> BRIDGE_MEMBERS =
      Set.of("server_id", "risk_level", "risk_reason", "pin", "warnings");

  /**
   * @param definition the definition without {@code BRIDGE_MEMBERS}
   * @param pin how it compares with the approved one; null if it is not judged
   */
  record Graded(Tool tool, JsonSlice definition, Risk risk, String pin, List<String> warnings) {

    /**
     * The list entry of this tool.
     *
     * @param server written as server_id; null in a list of one server
     */
    JsonSlice listed(String server) {
      JsonWriter out = new JsonWriter(definition.length() + 128).beginObject();
      if (server != null) {
        out.member("server_id", server);
      }
      out.membersOf(definition)
          .member("risk_level", risk.level().number())
          .member("risk_reason", risk.reason().apiName());
      if (pin != null) {
        out.member("pin", pin);
      }
      if (!warnings.isEmpty()) {
        out.name("warnings").beginArray();
        warnings.forEach(out::value);
        out.endArray();
      }
      return out.endObject().toSlice();
    }
  }

  /**
   * @param atLeast level of a tool by other rules than those of the gate
   */
  static GradedTools of(
      ServerView server,
      RiskGrading grading,
      Map<Name, Judgement> judgements,
      Map<String, String> unusable,
      Function<Tool, RiskLevel> atLeast) {
    Catalogue catalogue = server.catalogue();
    RiskRules rules = server.risk();
    List<Graded> tools =
        catalogue.tools().values().stream()
            .map(
                tool ->
                    new Graded(
                        tool,
                        withoutBridgeMembers(tool.definition()),
                        grading
                            .grade(Target.tool(tool.name()), rules, tool.destructive())
                            .raisedTo(atLeast.apply(tool)),
                        pin(judgements.get(new Name(DefinitionKind.TOOL, tool.name()))),
                        warnings(catalogue, unusable, tool)))
            .toList();
    int levels = tools.stream().map(Graded::risk).map(GradedTools::hash).toList().hashCode();
    int pins = tools.stream().map(Graded::pin).toList().hashCode();
    int hash = 31 * (31 * levels + pins) + tools.stream().map(Graded::warnings).toList().hashCode();
    String tag = catalogue.digest() + "-" + Integer.toHexString(hash);
    return new GradedTools(catalogue, rules, grading, judgements, unusable, tools, tag);
  }

  private static String pin(Judgement judgement) {
    return judgement == null ? null : judgement.state().word();
  }

  boolean isOf(
      ServerView server,
      RiskGrading current,
      Map<Name, Judgement> judged,
      Map<String, String> reasons) {
    return catalogue == server.catalogue()
        && grading == current
        && judgements == judged
        && rules.equals(server.risk())
        && unusable.equals(reasons);
  }

  private static List<String> warnings(
      Catalogue catalogue, Map<String, String> unusable, Tool tool) {
    List<String> warnings =
        new ArrayList<>(catalogue.warnings().getOrDefault(tool.name(), List.of()));
    if (unusable.containsKey(tool.name())) {
      warnings.add(
          "The arguments are not validated because the inputSchema cannot be used: "
              + unusable.get(tool.name()));
    }
    return List.copyOf(warnings);
  }

  static JsonSlice withoutBridgeMembers(JsonSlice definition) {
    Map<String, JsonSlice> members = JsonObjects.members(definition);
    return members.keySet().removeAll(BRIDGE_MEMBERS) ? JsonObjects.object(members) : definition;
  }

  /** A hash that is the same in every process, unlike that of enums. */
  private static int hash(Risk risk) {
    return 8 * risk.level().number() + risk.reason().ordinal();
  }
}
