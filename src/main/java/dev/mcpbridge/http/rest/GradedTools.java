package dev.mcpbridge.http.rest;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tools of one server with what the gate says of each, made once for a catalogue and a grading.
 * Immutable.
 *
 * @param unusable why the input schema of a tool cannot be used, by its name, as far as is known
 * @param tag changes whenever a tool, the level of one or what is said of it does
 */
record GradedTools(
    Catalogue catalogue,
    RiskRules rules,
    RiskGrading by,
    Map<String, String> unusable,
    List<Graded> tools,
    String tag) {

  /** What the bridge says of a tool, which no server says of its own. */
  private static final Set<String> OURS =
      Set.of("server_id", "risk_level", "risk_reason", "warnings");

  /**
   * @param definition without members of the bridge's
   */
  record Graded(Tool tool, JsonSlice definition, Risk risk, List<String> warnings) {

    /**
     * As it stands in a list.
     *
     * @param server null in a list of one server
     */
    JsonSlice listed(String server) {
      JsonWriter out = new JsonWriter(definition.length() + 128).beginObject();
      if (server != null) {
        out.member("server_id", server);
      }
      out.membersOf(definition)
          .member("risk_level", risk.level().number())
          .member("risk_reason", risk.reason().word());
      if (!warnings.isEmpty()) {
        out.name("warnings").beginArray();
        warnings.forEach(out::value);
        out.endArray();
      }
      return out.endObject().toSlice();
    }
  }

  static GradedTools of(
      Catalogue catalogue, RiskRules rules, RiskGrading by, Map<String, String> unusable) {
    List<Graded> tools =
        catalogue.tools().values().stream()
            .map(
                tool ->
                    new Graded(
                        tool,
                        withoutOurs(tool.definition()),
                        by.grade(Target.tool(tool.name()), rules, tool.destructive()),
                        warnings(catalogue, unusable, tool)))
            .toList();
    int levels = tools.stream().map(Graded::risk).map(GradedTools::hash).toList().hashCode();
    int said = 31 * levels + tools.stream().map(Graded::warnings).toList().hashCode();
    String tag = catalogue.digest() + "-" + Integer.toHexString(said);
    return new GradedTools(catalogue, rules, by, unusable, tools, tag);
  }

  boolean isOf(ServerView server, RiskGrading riskGrading, Map<String, String> known) {
    return catalogue == server.catalogue()
        && by == riskGrading
        && rules.equals(server.risk())
        && unusable.equals(known);
  }

  private static List<String> warnings(
      Catalogue catalogue, Map<String, String> unusable, Tool tool) {
    List<String> warnings =
        new ArrayList<>(catalogue.warnings().getOrDefault(tool.name(), List.of()));
    if (unusable.containsKey(tool.name())) {
      warnings.add(
          "arguments are not checked: the inputSchema cannot be used, "
              + unusable.get(tool.name()));
    }
    return List.copyOf(warnings);
  }

  private static JsonSlice withoutOurs(JsonSlice definition) {
    Map<String, JsonSlice> members = JsonObjects.members(definition);
    return members.keySet().removeAll(OURS) ? JsonObjects.object(members) : definition;
  }

  /** The same in every process. */
  private static int hash(Risk risk) {
    return 8 * risk.level().number() + risk.reason().ordinal();
  }
}
