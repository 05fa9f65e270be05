package dev.mcpbridge.oauth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChallengeTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "Bearer | - | -",
        "Bearer scope=\"a b\" | - | a b",
        "bearer SCOPE = \"a\" | - | a",
        "Bearer scope=a, resource_metadata=\"https://h/x\" | https://h/x | a",
        "Bearer resource_metadata=https://h/x | https://h/x | -",
        "Bearer error=\"x, scope=\\\"no\\\"\", scope=\"yes\" | - | yes",
        "Bearer realm=\"a\\\"b\", scope=\"c\\d\" | - | cd",
        "Bearer scope=\"a\\\\b\" | - | -",
        "Bearer scope=\"ä\" | - | -",
        "Basic realm=\"x\", Bearer scope=\"a\" | - | a",
        "Bearer scope=\"a\", scope=\"b\" | - | a",
        "Bearer x_scope=\"a\" | - | -",
        "Basic scope=\"a\" | - | -",
        "Bearertoken scope=\"a\" | - | -",
        "DPoP scope=\"a\" | - | -"
      })
  void parametersOfTheBearerChallengeAreRead(String header, String metadata, String scope) {
    assertEquals(new Challenge(metadata, scope), Challenge.of(List.of(header)));
  }

  @Test
  void otherHeadersBeforeItAreSkipped() {
    assertEquals(
        new Challenge(null, "a"), Challenge.of(List.of("Negotiate", "Bearer scope=\"a\"")));
    assertEquals(Challenge.NONE, Challenge.of(List.of()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\\"", "scope=\"", "\\", ",", "scope =", "bearer "})
  void hostileHeadersAreReadInTime(String part) {
    String header = "Bearer " + part.repeat(8_000 / part.length());
    assertTimeoutPreemptively(
        Duration.ofSeconds(10), () -> Challenge.of(List.of(header, header + "\"")));
    assertEquals(Challenge.NONE, Challenge.of(List.of("Bearer scope=\"" + "a".repeat(9_000))));
  }
}
