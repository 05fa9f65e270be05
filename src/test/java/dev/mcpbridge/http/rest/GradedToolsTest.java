package dev.mcpbridge.http.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.Risk;
import dev.mcpbridge.model.RiskGrading;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GradedToolsTest {
  private static final RiskGrading LOW =
      (target, rules, destructive) -> new Risk(RiskLevel.LOW, Risk.Reason.NONE);
  private static final RiskGrading MEDIUM =
      (target, rules, destructive) -> new Risk(RiskLevel.MEDIUM, Risk.Reason.TOOL);

  @Test
  void toolIsListedWithItsDefinitionAndLevel() {
    assertEquals(
        "{\"server_id\":\"s\",\"name\":\"a\",\"x\":1.10,\"risk_level\":2,\"risk_reason\":\"tool\"}",
        graded("{\"name\":\"a\",\"x\":1.10}", MEDIUM).tools().get(0).listed("s").text());
  }

  @Test
  void reservedMembersOfAServerAreReplaced() {
    assertEquals(
        "{\"name\":\"a\",\"risk_level\":2,\"risk_reason\":\"tool\"}",
        graded(
                "{\"name\":\"a\",\"risk\\u005flevel\":1,\"risk_reason\":\"x\",\"server_id\":\"y\"}",
                MEDIUM)
            .tools()
            .get(0)
            .listed(null)
            .text());
  }

  @Test
  void tagChangesWithTheLevel() {
    String tool = "{\"name\":\"a\"}";

    assertEquals(graded(tool, LOW).tag(), graded(tool, LOW).tag());
    assertNotEquals(graded(tool, LOW).tag(), graded(tool, MEDIUM).tag());
  }

  private static GradedTools graded(String tool, RiskGrading grading) {
    Catalogue catalogue =
        new Catalogue(
            Catalogue.byName(List.of(Tool.of(JsonSlice.of(tool)))),
            List.of(),
            List.of(),
            List.of(),
            null,
            Map.of(),
            "d");
    return GradedTools.of(
        ServerViews.of(
            new ServerId("s"), new ServerState.Ready(), catalogue, null, InstanceLocation.SOLE),
        grading,
        Map.of(),
        Map.of(),
        each -> RiskLevel.LOW);
  }
}
