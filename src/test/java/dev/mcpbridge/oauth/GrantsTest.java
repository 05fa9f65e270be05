package dev.mcpbridge.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GrantsTest {
  private final Set<String> removed = new HashSet<>();
  private final Grants grants =
      new Grants(
          CredentialStore.ofConsents(new SingleNode(Clock.systemUTC())),
          new ServerId("s"),
          60_000,
          (principal, terms) -> !removed.contains(principal));

  private static Grant grant(String token) {
    Registration client = new Registration("bridge", null, "none", null);
    return Grant.of(
        new Grant.Terms("http://s", "http://i", "http://i/token", null, client, null, List.of()),
        new TokenEndpoint.Tokens(token, null, Long.MAX_VALUE, null));
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  @Test
  void listsStayWithTheCallerWhoseGrantIsUsed() throws Exception {
    assertEquals(Optional.empty(), grants.anyCaller());
    await(grants.add("alice", null, grant("a")));
    assertEquals(Optional.of("alice"), grants.anyCaller());

    await(grants.add("mallory", null, grant("m")));

    assertEquals(Optional.of("alice"), grants.anyCaller());
  }

  @Test
  void newGrantIsUsedIfTheOneBeforeHasEnded() throws Exception {
    await(grants.add("alice", null, grant("a")));
    removed.add("alice");

    await(grants.add("bob", null, grant("b")));

    assertEquals(Optional.of("bob"), grants.anyCaller());
  }

  @Test
  void clientsOfSeveralConsentsAreAllKept() throws Exception {
    Future<Boolean> first = grants.add("alice", "app", grant("a"));
    Future<Boolean> second = grants.add("alice", "other", grant("b"));
    assertEquals(List.of(false, false), List.of(await(first), await(second)));

    assertEquals(List.of("app", "other"), await(grants.of("alice")).grant().clients());
    assertEquals(true, await(grants.add("alice", "app", grant("c"))));
  }
}
