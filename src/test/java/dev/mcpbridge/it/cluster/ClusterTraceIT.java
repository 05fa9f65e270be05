package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.SpanReceiver;
import dev.mcpbridge.fixture.SpanReceiver.Received;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A call that runs at another node is one trace. */
@Tag("cluster")
@Tag("slow")
class ClusterTraceIT {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  @TempDir private Path folder;

  private static Received only(List<Received> trace, String name, String kind) {
    List<Received> found =
        trace.stream().filter(s -> s.name().equals(name) && s.kind().equals(kind)).toList();
    assertEquals(1, found.size(), trace.toString());
    return found.get(0);
  }

  @Test
  void aCallAtAnotherNodeHasASpanOfEachNode() throws Exception {
    try (SpanReceiver collector = new SpanReceiver();
        Nodes nodes =
            Nodes.with(
                folder,
                3,
                collector.everything()
                    + ",'mcpServers':{'s':"
                    + TestBridge.entry("", "--meta")
                    + "}")) {
      // Given
      nodes.awaitReady(nodes.up().get(0), "s");
      String owner = nodes.get(nodes.up().get(0), "/servers/s").at("/node");
      int door =
          nodes.up().stream().filter(n -> !("n" + n).equals(owner)).findFirst().orElseThrow();
      nodes.awaitReady(door, "s");

      // When
      Answer answer =
          nodes.call(
              door, "s", "echo", "{}", "traceparent", "00-" + TRACE + "-b7ad6b7169203331-01");

      // Then
      assertEquals(200, answer.status(), answer.toString());
      nodes.until(() -> collector.trace(TRACE).size() == 5);
      List<Received> trace = collector.trace(TRACE);
      Received http = only(trace, "POST /servers/{server}/tools/{tool}", "SERVER");
      Received sent = only(trace, "node", "CLIENT");
      Received taken = only(trace, "node", "SERVER");
      Received upstream = only(trace, "tools/call echo", "CLIENT");
      assertEquals(http.id(), sent.parent());
      assertEquals(sent.id(), taken.parent());
      assertEquals(owner, sent.get("mcp_bridge.node"));
      assertEquals("n" + door, taken.get("mcp_bridge.node"));
      assertEquals(taken.id(), upstream.parent());
      assertEquals("n" + door, http.resource().get("service.instance.id"));
      assertEquals(owner, upstream.resource().get("service.instance.id"));
      assertTrue(
          answer.at("/structuredContent/traceparent").contains(upstream.id()), answer.toString());
    }
  }
}
