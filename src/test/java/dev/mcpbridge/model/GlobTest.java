package dev.mcpbridge.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobTest {

  @ParameterizedTest
  @CsvSource({
    "git_*,git_push,true", "git_*,git_,true", "git_*,svn,false", "*,anything,true",
        "a*b*c,aXbYc,true",
    "a*b*c,aXbY,false", "exact,exact,true", "exact,exactly,false", "a.c,abc,false", "**x,yx,true"
  })
  void matches(String pattern, String name, boolean expected) {
    assertEquals(expected, new Glob(pattern).matches(name));
  }

  @Test
  void matchingTakesLinearTime() {
    assertFalse(new Glob("*a".repeat(50) + "b").matches("a".repeat(10_000)));
  }
}
