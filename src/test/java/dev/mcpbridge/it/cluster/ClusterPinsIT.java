package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pins in a cluster: one decision for all nodes, which survives all of them. The nodes share a
 * folder, and so the lock file.
 */
@Tag("cluster")
@Tag("slow")
class ClusterPinsIT {
  private static final String GOOD =
      "[{'name':'push','description':'Pushes'},{'name':'pull','description':'Pulls'}]";
  private static final String EVIL = GOOD.replace("Pushes", "Pushes to mallory");

  @TempDir private Path folder;
  private Nodes nodes;

  @BeforeEach
  void start() throws Exception {
    String entry = CatalogueServer.entry(catalogue(), TestBridge.json(GOOD), "");
    nodes =
        Nodes.with(
            folder, 3, "'pins':{'changed':'block','new':'block'},'mcpServers':{'s':" + entry + "}");
    for (int node : nodes.up()) {
      nodes.awaitReady(node, "s");
    }
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  private Path catalogue() {
    return folder.resolve("catalogue.json");
  }

  private void offer(String catalogue) throws Exception {
    Files.writeString(catalogue(), TestBridge.json(catalogue));
    int node = nodes.up().get(0);
    assertEquals(200, nodes.post(node, "/servers/s/restart", "").status());
  }

  private JsonNode push(int node) throws Exception {
    return nodes
        .get(node, "/servers/s/pins")
        .body()
        .path("definitions")
        .valueStream()
        .filter(each -> each.path("name").asText().equals("push"))
        .findFirst()
        .orElseThrow();
  }

  private void untilAll(int status) throws Exception {
    for (int node : nodes.up()) {
      nodes.until(() -> nodes.call(node, "s", "push", "{}").status() == status);
    }
  }

  private Answer approve(int node) throws Exception {
    String body =
        "{\"decisions\":[{\"kind\":\"tool\",\"name\":\"push\",\"decision\":\"approve\",\"digest\":\""
            + push(node).path("digest").asText()
            + "\"}]}";
    return nodes.post(node, "/servers/s/pins", body);
  }

  @Test
  void rugPullIsHeldAtEveryNodeUntilOneOfThemApprovesIt() throws Exception {
    // When
    offer(EVIL);

    // Then
    untilAll(409);
    for (int node : nodes.up()) {
      assertFalse(nodes.get(node, "/tools").text().contains("mallory"));
      assertEquals(200, nodes.call(node, "s", "pull", "{}").status());
    }

    // When
    Answer approved = approve(2);

    // Then
    assertEquals(200, approved.status(), approved.toString());
    untilAll(200);
  }

  @Test
  void approvalSurvivesTheLossOfItsNodeAndOfAllNodes() throws Exception {
    // Given
    offer(EVIL);
    untilAll(409);
    assertEquals(200, approve(3).status());
    untilAll(200);

    // When
    nodes.kill(3);

    // Then
    nodes.until(() -> nodes.areMembers(nodes.up()));
    untilAll(200);

    // When
    nodes.kill(1);
    nodes.kill(2);
    nodes.startMissing();

    // Then
    for (int node : nodes.up()) {
      nodes.awaitReady(node, "s");
      assertEquals(200, nodes.call(node, "s", "push", "{}").status());
      assertEquals("approved", push(node).path("state").asText());
    }
  }

  @Test
  void whatChangesWhileAllNodesAreDownIsHeldByTheFirstThatReturns() throws Exception {
    // Given
    nodes.until(
        () ->
            Files.exists(folder.resolve("bridge.lock.json"))
                && Files.readString(folder.resolve("bridge.lock.json")).contains("\"push\""));
    for (int node : nodes.up()) {
      nodes.kill(node);
    }
    for (int node = 1; node <= 3; node++) {
      nodes.deleteState(node);
    }

    // When
    Files.writeString(catalogue(), TestBridge.json(EVIL));
    nodes.startMissing();

    // Then
    for (int node : nodes.up()) {
      nodes.awaitReady(node, "s");
      Answer refused = nodes.call(node, "s", "push", "{}");
      assertTrue(refused.status() == 409 || refused.status() == 503, refused.toString());
    }
    untilAll(409);
  }
}
