package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What people look at, at any node of a cluster. */
@Tag("cluster")
class ClusterLookingIT {
  @TempDir private Path folder;

  private static Set<String> nodesOf(JsonNode calls, String name) {
    return calls
        .path("calls")
        .valueStream()
        .filter(call -> call.path("name").asText().equals(name))
        .map(call -> call.path("node").asText())
        .collect(Collectors.toSet());
  }

  @Test
  void callsAndLogsOfAllNodesAreShownAtEachAndACallIsCancelledFromAnyNode() throws Exception {
    String servers = "'mcpServers':{'s':" + TestBridge.entry("") + "}";
    try (Nodes nodes = Nodes.with(folder, 3, servers)) {
      for (int node : nodes.up()) {
        nodes.awaitReady(node, "s");
        assertEquals(200, nodes.call(node, "s", "echo", "{}").status());
      }

      for (int node : nodes.up()) {
        JsonNode calls = nodes.get(node, "/calls").body();
        assertEquals(Set.of("n1", "n2", "n3"), nodesOf(calls, "echo"));
        assertEquals(0, calls.path("missing_nodes").size());
        String log = nodes.get(node, "/servers/s/log").text();
        assertTrue(log.contains("state ready"), log);
        assertEquals("n" + node, nodes.get(node, "/whoami").at("/node"));
      }

      CompletableFuture<Answer> running = nodes.callLater(1, "s", "never", "{}");
      nodes.until(() -> nodesOf(nodes.get(2, "/calls").body(), "never").equals(Set.of("n1")));
      String id =
          nodes
              .get(2, "/calls")
              .body()
              .path("calls")
              .valueStream()
              .filter(call -> call.path("name").asText().equals("never"))
              .findFirst()
              .orElseThrow()
              .path("call_id")
              .asText();

      assertEquals(202, nodes.delete(3, "/calls/" + id).status());

      assertEquals("cancelled", running.get().code());
      nodes.kill(3);
      nodes.until(() -> nodes.get(1, "/calls").body().path("missing_nodes").size() == 1);
    }
  }
}
