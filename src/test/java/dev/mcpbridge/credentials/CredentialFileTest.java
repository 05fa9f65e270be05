package dev.mcpbridge.credentials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.config.CredentialsConfig;
import dev.mcpbridge.config.Secret;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.EventLoops;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(VertxExtension.class)
class CredentialFileTest {
  private static final CredentialsConfig CONFIG =
      new CredentialsConfig(
          List.of(
              new CredentialsConfig.Key(
                  "a", new Secret(Base64.getEncoder().encodeToString(new byte[32])))),
          null,
          60_000);

  @TempDir Path folder;

  private CredentialStore restored(Vertx vertx, Duration later) throws Exception {
    SingleNode node = new SingleNode(Clock.offset(Clock.systemUTC(), later));
    CredentialStore store = CredentialStore.of(CONFIG, node);
    EventLoops.await(
        vertx, () -> CredentialStore.file(vertx, CONFIG, node, folder.resolve("f")).keep());
    return store;
  }

  @Test
  void lastingAndExpiringSecretsAreReadByABridgeWhoseClockIsAhead(
      @ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    SingleNode node = new SingleNode(Clock.systemUTC());
    CredentialFile file = CredentialStore.file(vertx, CONFIG, node, folder.resolve("f"));
    CredentialStore store = CredentialStore.of(CONFIG, node);
    EventLoops.await(vertx, file::keep);
    EventLoops.await(
        vertx,
        () ->
            store
                .put("lasting", "one", Long.MAX_VALUE)
                .compose(stored -> store.put("expiring", "two", 60_000))
                .compose(stored -> store.put("over", "three", 1))
                .compose(stored -> file.written()));

    CredentialStore read = restored(vertx, Duration.ofSeconds(5));

    assertEquals("one", read.known("lasting").text());
    assertEquals("two", read.known("expiring").text());
    assertFalse(read.known("over").isPresent());
  }
}
