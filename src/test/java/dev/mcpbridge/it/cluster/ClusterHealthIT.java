package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Health and metrics of nodes in a cluster. */
@Tag("cluster")
class ClusterHealthIT {
  private static final List<String> SERVERS = List.of("one", "two", "three");
  private static final List<Integer> ALL = List.of(1, 2, 3);

  @TempDir static Path folder;

  @AutoClose("stopAll")
  private static Nodes nodes;

  @BeforeAll
  static void start() throws Exception {
    nodes = Nodes.patient(folder, 3, Nodes.placed(folder, SERVERS));
    nodes.awaitReady(SERVERS);
  }

  private static JsonNode cluster(int node) throws Exception {
    return nodes.get(node, "/health/ready").body().path("cluster");
  }

  private static double value(int node, String series) throws Exception {
    Answer page = nodes.get(node, "/metrics");
    return page.text()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError(series + " is not in " + page.text()));
  }

  @Test
  void everyNodeShowsItselfItsPeersAndThePrimary() throws Exception {
    int primary = nodes.primary(1);
    assertTrue(ALL.contains(primary), primary + "");
    for (int node : ALL) {
      JsonNode cluster = cluster(node);

      assertEquals("member", cluster.path("state").asText());
      assertEquals("n" + node, cluster.path("node").asText());
      assertEquals(primary, nodes.primary(node));
      assertEquals(3, cluster.path("members").size(), cluster.toString());
      for (JsonNode member : cluster.path("members")) {
        int number = Integer.parseInt(member.path("name").asText().substring(1));
        assertEquals(nodes.uri(number, "").toString(), member.path("url").asText());
        assertFalse(member.path("version").asText().isEmpty(), member.toString());
      }
    }
  }

  @Test
  void movesOfServersAreCountedEquallyAtAllNodes() throws Exception {
    long before = cluster(1).path("moves").asLong();

    assertEquals(201, nodes.post(1, "/servers", definition("mover")).status());

    nodes.until(() -> cluster(1).path("moves").asLong() > before);
    assertEquals(200, nodes.delete(1, "/servers/mover").status());
    for (int node : ALL) {
      nodes.until(() -> cluster(node).path("moves").equals(cluster(1).path("moves")));
      assertEquals(
          cluster(node).path("moves").asDouble(), value(node, "mcp_bridge_cluster_moves_total"));
    }
  }

  private static String definition(String id) {
    String entry = dev.mcpbridge.fixture.TestBridge.json(Nodes.entry(folder, ""));
    return "{\"id\":\"" + id + "\"," + entry.substring(1);
  }

  @Test
  void metricsShowMembersAndRequestsToOtherNodes() throws Exception {
    for (int node : ALL) {
      assertEquals(1, value(node, "mcp_bridge_cluster_member"));
      assertEquals(3, value(node, "mcp_bridge_cluster_members"));
    }
    double before = value(1, "mcp_bridge_node_questions_total");
    double lost = value(1, "mcp_bridge_node_questions_lost_total");

    for (int i = 0; i < 10; i++) {
      assertEquals(200, nodes.call(1, "two", "echo", "{}").status());
    }

    assertTrue(value(1, "mcp_bridge_node_questions_total") >= before + 10);
    assertEquals(lost, value(1, "mcp_bridge_node_questions_lost_total"));
  }

  @Test
  void nodeCountsItsOwnCallsAndProcesses() throws Exception {
    String calls = "mcp_bridge_calls_total{outcome=\"answered\",server=\"three\"}";
    String processes = "mcp_bridge_server_processes{server=\"three\"}";
    nodes.assertAllAnswer(List.of("three"));
    double callsAt2 = value(2, calls);
    double callsAt3 = value(3, calls);

    for (int i = 0; i < 5; i++) {
      assertEquals(200, nodes.call(2, "three", "echo", "{}").status());
    }

    assertEquals(callsAt2 + 5, value(2, calls));
    assertEquals(callsAt3, value(3, calls));
    assertEquals(1, value(3, processes));
  }
}
