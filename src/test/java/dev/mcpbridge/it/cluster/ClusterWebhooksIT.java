package dev.mcpbridge.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.Nodes;
import dev.mcpbridge.fixture.NoticeReceiver;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each notice is sent by one node. */
@Tag("cluster")
@Tag("slow")
class ClusterWebhooksIT {
  private static final String CATALOGUE =
      "{'tools':[{'name':'push','description':'%s','inputSchema':{'type':'object'}}]}";

  @TempDir private Path folder;

  @Test
  void whatHappensAtSeveralNodesIsSentOnce() throws Exception {
    Path catalogue = folder.resolve("catalogue.json");
    String entry =
        CatalogueServer.entry(
            catalogue,
            TestBridge.json(CATALOGUE.formatted("Good")),
            "'instances':3,'risk':{'tools':{'push':2}}");
    try (NoticeReceiver receiver = new NoticeReceiver();
        Nodes nodes =
            Nodes.with(
                folder,
                3,
                receiver.webhooks("")
                    + ",'pins':{'changed':'warn'},'mcpServers':{'s':"
                    + entry
                    + "}")) {
      // Given
      for (int node : nodes.up()) {
        nodes.awaitReady(node, "s");
      }

      // When
      Answer held = nodes.call(1, "s", "push", "{}");
      Answer decided =
          nodes.post(
              2,
              "/confirmations/" + held.at("/confirmation_id"),
              "{\"confirm\":false,\"token\":\"" + held.at("/token") + "\"}");
      assertEquals(200, decided.status(), decided.toString());
      Files.writeString(catalogue, TestBridge.json(CATALOGUE.formatted("Evil")));
      assertEquals(200, nodes.post(3, "/servers/s/restart", "").status());

      // Then
      nodes.until(() -> receiver.types().contains("definitions.changed"));
      assertEquals(
          List.of("confirmation.pending", "confirmation.rejected", "definitions.changed"),
          receiver.types().stream().sorted().toList());
    }
  }
}
