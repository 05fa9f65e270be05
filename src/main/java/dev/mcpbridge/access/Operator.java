package dev.mcpbridge.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.re2j.Pattern;
import dev.mcpbridge.model.Glob;
import java.math.BigDecimal;
import java.text.Normalizer;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A condition on one JSON value; the value may be missing. For rules that deny, a text also matches
 * in its Unicode normalization form NFKC, which some servers read it in.
 */
@FunctionalInterface
public interface Operator {
  /**
   * @param isAllowing whether the condition belongs to a rule that allows
   */
  Match test(JsonNode value, boolean isAllowing);

  /** The value is present. */
  static Operator present() {
    return (value, isAllowing) -> Match.of(!value.isMissingNode());
  }

  /** The value is absent. */
  static Operator absent() {
    return (value, isAllowing) -> Match.of(value.isMissingNode());
  }

  /** One of several JSON values of any type; numbers are equal if their values are. */
  static Operator in(List<JsonNode> values) {
    return (value, isAllowing) -> {
      Match found = Match.UNDECIDED;
      for (JsonNode each : values) {
        Match match = equal(each, value, isAllowing);
        if (match == Match.YES) {
          return Match.YES;
        }
        found = match == Match.NO ? Match.NO : found;
      }
      return found;
    };
  }

  /** Another value of the same type. */
  static Operator not(JsonNode excluded) {
    return (value, isAllowing) -> equal(excluded, value, !isAllowing).negated();
  }

  /** A text that begins with another. */
  static Operator prefix(String prefix) {
    return text(text -> text.startsWith(prefix));
  }

  /** A text that a pattern matches, in which {@code *} stands for any characters. */
  static Operator glob(String pattern) {
    return text(new Glob(pattern)::matches);
  }

  /**
   * A text that a regular expression matches as a whole, in linear time.
   *
   * @throws com.google.re2j.PatternSyntaxException if it is invalid
   */
  static Operator matches(String regex) {
    Pattern pattern = Pattern.compile(regex);
    return text(text -> pattern.matcher(text).matches());
  }

  /**
   * A path below a folder.
   *
   * @throws IllegalArgumentException if the folder is ambiguous
   */
  static Operator under(String folder) {
    if (Uris.isAmbiguous(folder)) {
      throw new IllegalArgumentException("expected a folder without .. and backslashes");
    }
    return (value, isAllowing) -> {
      if (!value.isTextual()) {
        return Match.UNDECIDED;
      }
      Match match = Uris.isUnder(folder, value.textValue());
      return match == Match.NO && !isAllowing
          ? Uris.isUnder(folder, Normalizer.normalize(value.textValue(), Normalizer.Form.NFKC))
          : match;
    };
  }

  /** A text of at most so many characters. */
  static Operator maxLength(int length) {
    return (value, isAllowing) ->
        value.isTextual()
            ? Match.of(value.textValue().codePoints().count() <= length)
            : Match.UNDECIDED;
  }

  /** A number that is not less. */
  static Operator min(BigDecimal least) {
    return number(number -> number.compareTo(least) >= 0);
  }

  /** A number that is not greater. */
  static Operator max(BigDecimal greatest) {
    return number(number -> number.compareTo(greatest) <= 0);
  }

  private static Match equal(JsonNode expected, JsonNode value, boolean isAllowing) {
    if (expected.getNodeType() != value.getNodeType()) {
      return Match.UNDECIDED;
    }
    return Match.of(isSame(expected, value, isAllowing));
  }

  private static boolean isSame(JsonNode expected, JsonNode value, boolean isAllowing) {
    if (expected.isNumber() && value.isNumber()) {
      return expected.decimalValue().compareTo(value.decimalValue()) == 0;
    }
    if (expected.isTextual() && value.isTextual()) {
      return text(expected.textValue()::equals).test(value, isAllowing) == Match.YES;
    }
    if (expected.isArray() && value.isArray()) {
      return expected.size() == value.size()
          && IntStream.range(0, expected.size())
              .allMatch(i -> isSame(expected.get(i), value.get(i), isAllowing));
    }
    return expected.isObject() && value.isObject()
        ? expected.size() == value.size()
            && expected
                .propertyStream()
                .allMatch(
                    member -> isSame(member.getValue(), value.path(member.getKey()), isAllowing))
        : expected.equals(value);
  }

  private static Operator text(Predicate<String> test) {
    return (value, isAllowing) -> {
      if (!value.isTextual()) {
        return Match.UNDECIDED;
      }
      String text = value.textValue();
      return Match.of(
          test.test(text)
              || !isAllowing && test.test(Normalizer.normalize(text, Normalizer.Form.NFKC)));
    };
  }

  private static Operator number(Function<BigDecimal, Boolean> test) {
    return (value, isAllowing) ->
        value.isNumber() ? Match.of(test.apply(value.decimalValue())) : Match.UNDECIDED;
  }
}
