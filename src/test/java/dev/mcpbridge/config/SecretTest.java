package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SecretTest {
  private static List<String> hidden(String name, String value) {
    return Secret.in(Map.of(name, new Secret(value)));
  }

  @Test
  void valueOfAVariableWithASecretNameIsHidden() {
    for (String name : List.of("API_TOKEN", "DB_PASS", "MYSQL_PWD", "GITHUB_PAT", "sentry_dsn")) {
      assertEquals(List.of("hunter2-long"), hidden(name, "hunter2-long"), name);
    }
    assertEquals(List.of(), hidden("NODE_ENV", "production"));
    assertEquals(List.of(), hidden("API_TOKEN", "short"));
  }

  @Test
  void eachLineOfAKeyIsHidden() {
    assertEquals(
        List.of("second line", "first line"), hidden("PRIVATE_KEY", "first line\nsecond line\n"));
  }

  @Test
  void passwordInAUrlIsHidden() {
    assertEquals(List.of("s3cret-pw"), hidden("DATABASE_URL", "postgres://me:s3cret-pw@db:5432/x"));
  }
}
