package dev.mcpbridge.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.AuthConfig;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ApiKeysTest {

  @Test
  void onlyConfiguredKeysAreAccepted() {
    String key = ApiKeys.generate();
    AuthConfig config =
        new AuthConfig(
            List.of(new AuthConfig.Key("edge", ApiKeys.fingerprint(key), Set.of("read"))));

    ApiKeys keys = new ApiKeys(config);

    Principal edge = keys.authenticate(key).orElseThrow();
    assertEquals("edge", edge.name());
    assertTrue(edge.may(Scope.READ));
    assertFalse(edge.may(Scope.ADMIN));
    assertTrue(keys.authenticate(key + "x").isEmpty());
    assertTrue(keys.authenticate(null).isEmpty());
    assertTrue(keys.authenticate("").isEmpty());
  }

  @Test
  void everyCallerIsAcceptedWithoutKeys() {
    assertTrue(
        new ApiKeys(new AuthConfig(List.of())).authenticate(null).orElseThrow().may(Scope.ADMIN));
  }
}
