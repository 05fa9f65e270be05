package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.StuckFile;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The trails of several nodes, searched at any of them. */
@Tag("cluster")
@Tag("slow")
class ClusterAuditIT {
  @TempDir private Path folder;
  private Nodes nodes;

  @BeforeEach
  void start() throws Exception {
    nodes =
        Nodes.with(
            folder,
            3,
            "'audit':{'folder':'trail-${env:NODE_NAME}'},'mcpServers':{'s':"
                + TestBridge.entry("")
                + "}");
    for (int node : nodes.up()) {
      nodes.awaitReady(node, "s");
      assertEquals(200, nodes.call(node, "s", "echo", "{\"n\":" + node + "}").status());
      assertEquals(200, nodes.call(node, "s", "echo", "{\"n\":" + node + "}").status());
    }
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  private List<JsonNode> pages(int node, int limit) throws Exception {
    List<JsonNode> records = new ArrayList<>();
    String cursor = "";
    do {
      Answer page = nodes.get(node, "/audit?name=echo&limit=" + limit + cursor);
      assertEquals(200, page.status(), page.toString());
      page.body().path("records").forEach(records::add);
      cursor = page.body().has("nextCursor") ? "&cursor=" + page.at("/nextCursor") : "";
    } while (!cursor.isEmpty());
    return records;
  }

  @Test
  void anyNodeFindsTheRecordsOfAllByTimeAndNamesThoseThatAreMissing() throws Exception {
    for (int node : nodes.up()) {
      nodes.until(() -> pages(node, 100).size() == 12);
      List<JsonNode> records = pages(node, 5);
      assertEquals(12, records.size());
      List<Instant> times =
          records.stream().map(each -> Instant.parse(each.path("at").asText())).toList();
      assertEquals(times.stream().sorted(Comparator.reverseOrder()).toList(), times);
      assertEquals(
          Set.of("n1", "n2", "n3"),
          records.stream().map(each -> each.path("node").asText()).collect(Collectors.toSet()));
    }

    nodes.kill(3);

    nodes.until(() -> nodes.get(1, "/audit").body().path("missing_nodes").size() == 1);
    assertTrue(pages(1, 5).stream().noneMatch(each -> each.path("node").asText().equals("n3")));
  }

  @Test
  void changeOfTheDecidingNodesSaysWhoAskedForIt() throws Exception {
    nodes.until(() -> nodes.send(1, "DELETE", "/cluster/voters/n3").status() == 200);

    JsonNode removed = nodes.get(2, "/audit?event=cluster.request").body().path("records").get(0);

    assertEquals("remove-voter", removed.path("action").asText());
    assertEquals("n3", removed.path("member").asText());
    assertEquals("anonymous", removed.path("principal").asText());
    assertEquals("n1", removed.path("node").asText());
    assertTrue(removed.path("code").isMissingNode(), removed.toString());
  }

  private String trail(int node) throws Exception {
    StringBuilder trail = new StringBuilder();
    for (Path file : files(folder.resolve("trail-n" + node))) {
      trail.append(Files.readString(file));
    }
    return trail.toString();
  }

  private static List<Path> files(Path trail) throws Exception {
    try (Stream<Path> files = Files.list(trail)) {
      return files.filter(file -> file.toString().endsWith(".jsonl")).toList();
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void nodeThatDiesInTheMiddleOfASearchIsMissing() throws Exception {
    // Given
    StuckFile.at(folder.resolve("trail-n3").resolve("audit-000000000000.jsonl"));
    CompletableFuture<Answer> search = nodes.getLater(1, "/audit?name=none");
    nodes.until(() -> trail(1).contains("\"event\":\"audit.read\""));
    assertFalse(search.isDone());

    // When
    nodes.kill(3);

    // Then
    Answer answer = search.get();
    assertEquals(200, answer.status(), answer.toString());
    assertEquals("n3", answer.at("/missing_nodes/0"));
  }
}
