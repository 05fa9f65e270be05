package dev.mcpbridge.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GrantedClientsTest {
  private static final ServerId NOTES = new ServerId("notes");

  private final CredentialStore store =
      CredentialStore.ofConsents(new SingleNode(Clock.systemUTC()));
  private final Grants grants = new Grants(store, NOTES, 60_000, (principal, terms) -> true);
  private final GrantedClients clients = new GrantedClients(store);

  @BeforeEach
  void agreeToApp() throws Exception {
    agree("corp|alice", "app");
  }

  private void agree(String principal, String client) throws Exception {
    Registration registration = new Registration("bridge", null, "none", null);
    Grant.Terms terms =
        new Grant.Terms(
            "http://s", "http://i", "http://i/token", null, registration, null, List.of("a", "b"));
    Grant grant = Grant.of(terms, new TokenEndpoint.Tokens("at", null, Long.MAX_VALUE, null));
    grants.add(principal, client, grant).toCompletionStage().toCompletableFuture().get();
  }

  private static Principal alice(String client) {
    return new Principal(
        "corp|alice",
        Set.of(),
        Set.of(),
        new Principal.Token("corp", client, Long.MAX_VALUE, Set.of(), Map.of()));
  }

  private BridgeException failure(Principal caller, ServerId server) throws Exception {
    Future<Void> permitted = clients.permit(caller, server);
    return permitted
        .map((BridgeException) null)
        .recover(failure -> Future.succeededFuture((BridgeException) failure))
        .toCompletionStage()
        .toCompletableFuture()
        .get(10, TimeUnit.SECONDS);
  }

  @Test
  void clientToWhichTheUserAgreedUsesTheGrant() throws Exception {
    assertNull(failure(alice("app"), NOTES));
  }

  @Test
  void otherClientDoesNotAndIsNamedWithWhatItWouldGet() throws Exception {
    BridgeException refused = failure(alice("other"), NOTES);

    assertEquals(ErrorCode.CONSENT_REQUIRED, refused.code());
    assertEquals("a b", refused.members().get("scope"));
    assertEquals(
        "The user of server 'notes' has not agreed that client 'other' uses it",
        refused.getMessage());
  }

  @Test
  void clientThatTheTokenDoesNotNameIsOneOfItsOwn() throws Exception {
    assertEquals(
        "The user of server 'notes' has not agreed that this client uses it",
        failure(alice(null), NOTES).getMessage());
    agree("corp|alice", alice(null).token().clientName());
    assertNull(failure(alice(null), NOTES));
    assertNull(failure(alice("app"), NOTES));
    assertEquals(ErrorCode.CONSENT_REQUIRED, failure(alice("other"), NOTES).code());
  }

  @Test
  void keyHasNoClient() throws Exception {
    agree("bob", null);
    assertNull(failure(new Principal("bob", Set.of(), Set.of(), null), NOTES));
  }

  @Test
  void userWithoutAGrantIsAskedElsewhere() throws Exception {
    assertNull(failure(alice("other"), new ServerId("wiki")));
  }
}
