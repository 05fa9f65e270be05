package dev.mcpbridge.metrics;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The metrics in the formats of Prometheus. */
class MetricsPageTest {
  private static final MetricsPage.Server SERVER =
      new MetricsPage.Server(
          "git", "ready", 1, 8, Map.of("approved", 9L, "held", 2L), 3, 2, 4, 5, 6);
  private static final MetricsPage.Shown ALL = shown("");
  private Counts counts = new Counts();

  /** Shows everything but one tool. */
  private static MetricsPage.Shown shown(String hiddenTool) {
    return new MetricsPage.Shown() {
      @Override
      public boolean server(String name) {
        return true;
      }

      @Override
      public boolean tool(String server, String name) {
        return !name.equals(hiddenTool);
      }
    };
  }

  private String page(String accept, MetricsPage.Nodes nodes) {
    return new String(
        MetricsPage.write(accept, counts, ALL, 7, List.of(SERVER), nodes, new MetricSnapshots())
            .body(),
        StandardCharsets.UTF_8);
  }

  private void assertHasLine(String line) {
    String page = page(null, new MetricsPage.Nodes(true, 3, 7));
    assertTrue(page.contains(line + "\n"), page);
  }

  @Test
  void callsAreCountedByOutcome() {
    counts.answered("git", 2_000_000);
    counts.answered("git", 2_000_000_000);
    counts.ended("git", "deadline_exceeded");

    assertHasLine("mcp_bridge_calls_total{outcome=\"answered\",server=\"git\"} 2.0");
    assertHasLine("mcp_bridge_calls_total{outcome=\"deadline_exceeded\",server=\"git\"} 1.0");
  }

  @Test
  void durationsAreCountedInBuckets() {
    counts.answered("git", 1_000_000);
    counts.answered("git", 1_000_001);
    counts.answered("git", 400_000_000_000L);

    assertHasLine("mcp_bridge_call_duration_seconds_bucket{server=\"git\",le=\"0.001\"} 1");
    assertHasLine("mcp_bridge_call_duration_seconds_bucket{server=\"git\",le=\"0.0025\"} 2");
    assertHasLine("mcp_bridge_call_duration_seconds_bucket{server=\"git\",le=\"300.0\"} 2");
    assertHasLine("mcp_bridge_call_duration_seconds_bucket{server=\"git\",le=\"+Inf\"} 3");
    assertHasLine("mcp_bridge_call_duration_seconds_count{server=\"git\"} 3");
  }

  @Test
  void callsOfEachToolAreCountedIfConfigured() {
    counts.answered("git", 2_000_000);
    assertFalse(page(null, null).contains("mcp_bridge_tool_"));

    counts = new Counts("v", true);
    counts.toolAnswered("git", "log", 2_000_000);
    counts.toolFailed("git", "log", "timeout");

    String labels = "server=\"git\",tool=\"log\"";
    assertHasLine(
        "mcp_bridge_tool_calls_total{outcome=\"answered\",server=\"git\",tool=\"log\"} 1.0");
    assertHasLine(
        "mcp_bridge_tool_calls_total{outcome=\"timeout\",server=\"git\",tool=\"log\"} 1.0");
    assertHasLine("mcp_bridge_tool_call_duration_seconds_count{" + labels + "} 1");
  }

  @Test
  void callsOfVeryManyToolsAreCountedTogether() {
    counts = new Counts("v", true);
    for (int i = 0; i < 203; i++) {
      counts.toolAnswered(i % 2 == 0 ? "git" : "files", "tool" + i, 1);
    }

    assertHasLine(
        "mcp_bridge_tool_call_duration_seconds_count{server=\"files\",tool=\"tool199\"} 1");
    assertHasLine("mcp_bridge_tool_call_duration_seconds_count{server=\"git\",tool=\"(other)\"} 2");
    assertFalse(page(null, null).contains("tool200"));
  }

  @Test
  void callsOfARemovedServerAreNotCountedForTheirTool() {
    counts = new Counts("v", true);
    counts.ended("", "node_lost");
    counts.toolFailed("", "log", "node_lost");
    counts.toolAnswered("", "log", 1);

    assertHasLine("mcp_bridge_calls_total{outcome=\"node_lost\",server=\"\"} 1.0");
    assertFalse(page(null, null).contains("log"), page(null, null));
  }

  @Test
  void toolThatIsHiddenFromTheReaderIsNotNamed() {
    counts = new Counts("v", true);
    counts.toolAnswered("git", "secret", 1);
    counts.toolAnswered("git", "log", 1);

    byte[] body =
        MetricsPage.write(null, counts, shown("secret"), 0, List.of(), null, new MetricSnapshots())
            .body();

    String page = new String(body, StandardCharsets.UTF_8);
    assertTrue(page.contains("tool=\"log\""), page);
    assertFalse(page.contains("secret"), page);
  }

  @Test
  void stateOfServersAndNodesIsReported() {
    counts.nodeRequested();
    counts.nodeRequested();
    counts.nodeRequestLost();

    assertHasLine("mcp_bridge_server_state{server=\"git\",state=\"ready\"} 1.0");
    assertHasLine("mcp_bridge_calls_in_flight{server=\"git\"} 3.0");
    assertHasLine("mcp_bridge_calls_queued{server=\"git\"} 2.0");
    assertHasLine("mcp_bridge_server_restarts_total{server=\"git\"} 4.0");
    assertHasLine("mcp_bridge_cluster_members 3.0");
    assertHasLine("mcp_bridge_cluster_moves_total 7.0");
    assertHasLine("mcp_bridge_node_questions_total 2.0");
    assertHasLine("mcp_bridge_node_questions_lost_total 1.0");
  }

  @Test
  void singleNodeHasNoClusterMetrics() {
    assertFalse(page(null, null).contains("cluster"));
  }

  @Test
  void openMetricsIsNegotiated() {
    assertTrue(page("application/openmetrics-text; version=1.0.0", null).endsWith("# EOF\n"));
  }
}
