package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.PercentEncoding;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Expands a path template; a value never leaves its segment. Stateless. */
final class PathTemplate {
  private PathTemplate() {}

  static String expand(
      String template, List<Parameter> parameters, Map<String, JsonSlice> arguments) {
    String path = template;
    for (Parameter parameter : parameters) {
      JsonSlice value = arguments.get(parameter.key());
      if (parameter.in() == Parameter.In.PATH && value != null) {
        path = path.replace("{" + parameter.name() + "}", expanded(parameter, value));
      }
    }
    boolean hasDotSegment =
        Stream.of(path.split("/", -1)).anyMatch(part -> part.equals(".") || part.equals(".."));
    if (hasDotSegment) {
      throw ArgumentErrors.of("a path segment must not be '.' or '..'");
    }
    return path;
  }

  private static String expanded(Parameter parameter, JsonSlice value) {
    String expanded =
        switch (parameter.style()) {
          case "label" -> "." + joined(parameter, value, parameter.explode() ? "." : ",");
          case "matrix" -> matrix(parameter, value);
          default -> joined(parameter, value, ",");
        };
    if (expanded.isEmpty()) {
      throw ArgumentErrors.of(
          "'" + parameter.key() + "' is a path parameter and must not be empty");
    }
    return expanded;
  }

  private static String joined(Parameter parameter, JsonSlice value, String delimiter) {
    if (parameter.isJson()) {
      return PercentEncoding.encoded(value.text());
    }
    return StyledParameters.unnamed(
        value, parameter.explode(), delimiter, text -> encoded(parameter, text));
  }

  private static String matrix(Parameter parameter, JsonSlice value) {
    String name = ";" + PercentEncoding.encoded(parameter.name()) + "=";
    if (!parameter.explode() || !value.isArray() && !value.isObject()) {
      return name + joined(parameter, value, ",");
    }
    return value.isArray()
        ? JsonObjects.elements(value).stream()
            .map(each -> name + encoded(parameter, StyledParameters.text(each)))
            .collect(Collectors.joining())
        : ";" + joined(parameter, value, ";");
  }

  private static String encoded(Parameter parameter, String text) {
    return PercentEncoding.encoded(ArgumentErrors.requirePlain(parameter.key(), text));
  }
}
