package dev.mcpbridge.it.mcp.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Background;
import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.EraClient.NotificationStream;
import dev.mcpbridge.fixture.ExactServer;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.protocol.Json;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ids, tokens and subscriptions of one client and of concurrent clients. */
public interface CrowdRows extends Rows {
  String SUBSCRIPTION = "/params/_meta/io.modelcontextprotocol~1subscriptionId";

  @ParameterizedTest
  @ValueSource(strings = {"0", "-7", "9007199254740993", "\"7\"", "\"gr\\u00fc\\u00dfe/\"", "\"\""})
  default void aResponseHasTheIdOfItsRequest(String id) throws Exception {
    Reply reply = fixture("{}").withFixedId(id).call("test_simple_text", "{}");

    assertEquals(Json.mapper().readTree(id), reply.last().path("id"));
    assertEquals("text", reply.at("/content/0/type"));
  }

  @Test
  default void equalIdsAndTokensOfSeveralClientsAreKeptApart() throws Exception {
    List<EraClient> clients =
        List.of(fixture("{}"), fixture("{}"), world().client(at(), "b", "{}"), fixture("{}"));

    List<CompletableFuture<Reply>> calls =
        clients.stream()
            .map(eraClient -> Background.call(() -> callWithProgress(eraClient)))
            .toList();

    for (CompletableFuture<Reply> call : calls) {
      Reply reply = call.get(20, TimeUnit.SECONDS);
      List<JsonNode> notifications = reply.notifications("notifications/progress");
      assertEquals(
          List.of("0", "50", "100"),
          notifications.stream().map(n -> n.at("/params/progress").asText()).toList());
      notifications.forEach(
          n -> assertEquals("\"same\"", n.at("/params/progressToken").toString()));
      assertEquals("1", reply.last().path("id").toString());
    }
  }

  private static Reply callWithProgress(EraClient eraClient) throws Exception {
    return eraClient
        .withFixedId("1")
        .call("test_tool_with_progress", "{}", "\"progressToken\":\"same\"");
  }

  @Test
  default void everySubscriberIsNotifiedOfAChangeOnce() throws Exception {
    EraClient firstClient = exact("{}");
    EraClient secondClient = exact("{}");
    String uri = "exact://0";
    try (NotificationStream first = firstClient.withFixedId("\"first\"").listen(uri);
        NotificationStream second = secondClient.withFixedId("\"second\"").listen(uri)) {
      EraClient third = exact("{}");
      if (!at().stateless()) {
        firstClient.request("resources/subscribe", "\"uri\":\"" + uri + "\"").result();
      }
      for (NotificationStream notificationStream : List.of(first, second)) {
        awaitFirst(notificationStream, "notifications/", () -> third.call("touch", "{\"n\":0}"));
      }

      third.call("touch", "{\"n\":1}");
      third.call("touch", "{\"n\":2}");

      for (NotificationStream notificationStream : List.of(first, second)) {
        for (String n : List.of("1", "2")) {
          JsonNode update = afterTheFirst(notificationStream);
          assertEquals("notifications/resources/updated", update.path("method").asText());
          assertEquals(n, update.at("/params/n").asText());
          String id = notificationStream == first ? "first" : "second";
          assertEquals(at().stateless() ? id : "", update.at(SUBSCRIPTION).asText());
        }
      }
    }
  }

  private static JsonNode afterTheFirst(NotificationStream notificationStream) throws Exception {
    JsonNode update = Json.mapper().readTree(notificationStream.awaitNext("notifications/"));
    return update.at("/params/n").asText().equals("0") ? afterTheFirst(notificationStream) : update;
  }

  @Test
  default void aSubscriptionDeliversOnlyWhatItsFilterRequests() throws Exception {
    EraClient eraClient = fixture("{}");
    String filter = "\"promptsListChanged\":true,\"toolsListChanged\":false";
    if (!at().stateless()) {
      assertEquals(
          METHOD_NOT_FOUND,
          eraClient
              .request("subscriptions/listen", "\"notifications\":{" + filter + "}")
              .errorCode());
      return;
    }
    try (NotificationStream notificationStream = eraClient.listenTo(filter)) {

      eraClient.call("test_trigger_tool_change", "{}");
      eraClient.call("test_trigger_prompt_change", "{}");

      assertTrue(
          notificationStream
              .awaitNext("notifications/")
              .contains("notifications/prompts/list_changed"));
    }
  }

  @Test
  default void aSubscriptionIsConfirmedAfterTheServersConfirmation() throws Exception {
    EraClient eraClient = exact("{}");
    String uri = ExactServer.SLOW;
    try (NotificationStream notificationStream = eraClient.listen(uri)) {
      eraClient.call("touch", "{\"uri\":\"" + uri + "\",\"n\":0}");

      String update =
          awaitFirst(
              notificationStream,
              "notifications/resources/updated",
              () -> eraClient.call("touch", "{\"uri\":\"" + uri + "\",\"n\":1}"));

      assertTrue(update.contains("\"n\":0"), update);
    }
  }

  @Test
  default void cacheHintsAreThoseOfTheServer() throws Exception {
    Reply reply = exact("{}").request("resources/read", "\"uri\":\"exact://0\"");

    boolean hasHints = at().stateless() && at().upstream().modern();
    assertEquals(
        hasHints ? "60000" : at().stateless() ? "0" : null, reply.rawResult().get("ttlMs"));
    assertEquals(
        hasHints ? "\"public\"" : at().stateless() ? "\"private\"" : null,
        reply.rawResult().get("cacheScope"));
  }

  @Test
  default void aStructuredArrayIsRemovedForASession() throws Exception {
    Reply reply = exact("{}").call("list", "{}");

    boolean passes = at().stateless() || !at().upstream().modern();
    assertEquals(passes ? "[1.10,1e2]" : null, reply.rawResult().get("structuredContent"));
    assertEquals("[1.10,1e2]", reply.firstText());
  }

  @Test
  default void anUnknownReservedMetaKeyIsPassedOn() throws Exception {
    Reply reply = exact("{}").call("said", "{}", "\"io.modelcontextprotocol/future\":1.10");

    assertTrue(
        reply.firstText().contains("\"io.modelcontextprotocol/future\":1.10"), reply.firstText());
  }

  @Test
  default void anArgumentMirroredInAHeaderReachesItsTool() throws Exception {
    EraClient eraClient = fixture("{}");
    String region = "{\"region\":\"grüße\"}";

    Reply plain = eraClient.call("test_x_mcp_header", region);
    Reply mirrored =
        eraClient
            .with("mcp-param-region", "=?base64?Z3LDvMOfZQ==?=")
            .call("test_x_mcp_header", region);

    assertEquals("grüße", mirrored.firstText());
    if (at().stateless()) {
      Reply other =
          eraClient.with("mcp-param-region", "elsewhere").call("test_x_mcp_header", region);
      for (Reply refused : List.of(plain, other)) {
        assertEquals(400, refused.status());
        assertEquals(-32020, refused.errorCode());
      }
    } else {
      assertEquals("grüße", plain.firstText());
    }
  }
}
