package dev.mcpbridge.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.protocol.Sha256;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ApiKeysTest {

  @Test
  void onlyConfiguredKeysAreAccepted() {
    String key = ApiKeys.generate();

    ApiKeys keys =
        new ApiKeys(
            List.of(
                new AuthConfig.Key(
                    "edge", ApiKeys.fingerprint(key), Set.of("read"), Set.of("sensor"))));

    Principal edge = keys.find(hash(key)).orElseThrow().principal();
    assertEquals("edge", edge.name());
    assertEquals(Set.of("sensor"), edge.roles());
    assertTrue(edge.may(Scope.READ));
    assertFalse(edge.may(Scope.ADMIN));
    assertTrue(keys.find(hash(key + "x")).isEmpty());
    assertTrue(keys.find(hash("")).isEmpty());
  }

  private static byte[] hash(String key) {
    return Sha256.of(key).bytes();
  }

  @Test
  void everyCallerIsAcceptedWithoutKeysAndIssuers() {
    Authenticator authenticator =
        new Authenticator(
            null, new AuthConfig(List.of(), List.of(), null, null, false, null), null);

    assertTrue(authenticator.authenticate(null, () -> "").result().principal().may(Scope.ADMIN));
  }
}
