package dev.mcpbridge.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UrgencyTest {
  @ParameterizedTest
  @CsvSource({"-2,3,false", "-1,3,false", "0,0,true", "3,3,true", "7,7,true", "8,8,false"})
  void zeroToSevenAreValidAndTheUsualOneStandsForUnspecified(
      int urgency, int used, boolean isValid) {
    assertEquals(used, Urgency.orUsual(urgency));
    assertEquals(isValid, Urgency.isValid(urgency));
  }
}
