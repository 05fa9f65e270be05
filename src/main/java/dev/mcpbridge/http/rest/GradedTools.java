package dev.mcpbridge.http.rest;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Grading;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tools of one server with what the gate says of each, made once for a catalogue and a grading.
 * Immutable.
 *
 * @param tag changes whenever a tool or the level of one does
 */
record GradedTools(
    Catalogue catalogue, RiskRules rules, Grading by, List<Graded> tools, String tag) {

  /** What the bridge says of a tool, which no server says of its own. */
  private static final Set<String> OURS = Set.of("server_id", "risk_level", "risk_reason");

  /**
   * @param definition without members of the bridge's
   */
  record Graded(Tool tool, JsonSlice definition, Risk risk) {

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
      return out.membersOf(definition)
          .member("risk_level", risk.level().number())
          .member("risk_reason", risk.reason().word())
          .endObject()
          .toSlice();
    }
  }

  static GradedTools of(Catalogue catalogue, RiskRules rules, Grading by) {
    List<Graded> tools =
        catalogue.tools().values().stream().map(tool -> graded(tool, rules, by)).toList();
    int levels = tools.stream().map(Graded::risk).map(GradedTools::hash).toList().hashCode();
    return new GradedTools(
        catalogue, rules, by, tools, catalogue.digest() + "-" + Integer.toHexString(levels));
  }

  boolean isOf(ServerView server, Grading grading) {
    return catalogue == server.catalogue() && by == grading && rules.equals(server.risk());
  }

  private static Graded graded(Tool tool, RiskRules rules, Grading by) {
    Risk risk = by.grade(Target.tool(tool.name()), rules, tool.destructive());
    return new Graded(tool, withoutOurs(tool.definition()), risk);
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
