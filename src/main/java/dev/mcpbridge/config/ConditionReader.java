package dev.mcpbridge.config;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.google.re2j.PatternSyntaxException;
import dev.mcpbridge.access.Condition;
import dev.mcpbridge.access.Operator;
import java.util.ArrayList;
import java.util.List;

/** Reads the conditions of access rules on arguments and annotations. */
final class ConditionReader {
  private static final List<String> HINTS =
      List.of("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint");

  private ConditionReader() {}

  /** Conditions by JSON pointer. */
  static List<Condition> ofArguments(Section arguments) {
    List<Condition> conditions = new ArrayList<>();
    for (String pointer : arguments.withoutNulls().names()) {
      if (pointer.startsWith("/")) {
        read(arguments.section(pointer), JsonPointer.compile(pointer), conditions);
      } else {
        arguments.report(pointer, "expected a JSON pointer such as /path");
      }
    }
    return List.copyOf(conditions);
  }

  /** Conditions by name of the annotation. */
  static List<Condition> ofAnnotations(Section annotations) {
    List<Condition> conditions = new ArrayList<>();
    annotations.withoutNulls();
    for (String hint : HINTS) {
      if (annotations.has(hint)) {
        read(annotations.section(hint), JsonPointer.compile("/" + hint), conditions);
      }
    }
    return List.copyOf(conditions);
  }

  private static void read(Section section, JsonPointer pointer, List<Condition> conditions) {
    if (section.names().isEmpty()) {
      section.report("", "expected at least one of " + String.join(", ", section.keys()));
    }
    for (String name : section.names()) {
      JsonNode operand = section.json(name);
      if (!operand.isMissingNode()) {
        conditions.add(
            new Condition(pointer, name + " " + operand, operator(section, name, operand)));
      }
    }
  }

  /** Null for an unknown operator, which the section has reported. */
  private static Operator operator(Section section, String name, JsonNode operand) {
    return switch (name) {
      case "equals" -> Operator.in(List.of(operand));
      case "in" -> Operator.in(operand.valueStream().toList());
      case "not" -> Operator.not(operand);
      case "prefix" -> Operator.prefix(operand.textValue());
      case "under" -> under(section, operand.textValue());
      case "glob" -> Operator.glob(operand.textValue());
      case "matches" -> matches(section, operand.textValue());
      case "min" -> Operator.min(operand.decimalValue());
      case "max" -> Operator.max(operand.decimalValue());
      case "maxLength" -> Operator.maxLength(operand.intValue());
      case "present" -> Operator.present();
      case "absent" -> Operator.absent();
      default -> null;
    };
  }

  private static Operator under(Section section, String folder) {
    try {
      return Operator.under(folder);
    } catch (IllegalArgumentException e) {
      section.report("under", e.getMessage());
      return null;
    }
  }

  private static Operator matches(Section section, String regex) {
    try {
      return Operator.matches(regex);
    } catch (PatternSyntaxException e) {
      section.report("matches", "is not a regular expression of RE2: " + e.getMessage());
      return null;
    }
  }
}
