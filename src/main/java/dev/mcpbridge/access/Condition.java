package dev.mcpbridge.access;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * A condition on one value of the arguments or annotations.
 *
 * @param pointer where the value is (RFC 6901)
 * @param text the condition as configured, by which conditions are compared and explained
 */
public record Condition(JsonPointer pointer, String text, Operator operator) {

  /**
   * Null if all conditions count as fulfilled, else the first that does not, as a clause.
   *
   * @param values the value at a place; missing if it is absent
   */
  static String mismatch(
      List<Condition> conditions, Function<JsonPointer, JsonNode> values, boolean isAllowing) {
    for (Condition condition : conditions) {
      Match match = condition.operator.test(values.apply(condition.pointer), isAllowing);
      if (!match.applies(isAllowing)) {
        return "the condition " + condition + " does not hold";
      }
    }
    return null;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Condition condition
        && pointer.equals(condition.pointer)
        && text.equals(condition.text);
  }

  @Override
  public int hashCode() {
    return Objects.hash(pointer, text);
  }

  @Override
  public String toString() {
    return pointer + " " + text;
  }
}
