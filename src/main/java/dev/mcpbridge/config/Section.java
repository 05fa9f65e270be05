package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * One object of the configuration, read key by key. What is wrong is collected with its path and
 * replaced by the default, so that one reading finds everything.
 */
final class Section {
  private static final int MAX_UNKNOWN = 20;

  /** Keys of other clients that look like ours. */
  private static final List<String> STRANGERS = List.of("oauth");

  private final JsonNode node;
  private final String path;
  private final Placeholders placeholders;
  private final List<ConfigProblem> problems;

  Section(JsonNode node, String path, Placeholders placeholders, List<ConfigProblem> problems) {
    this.path = path;
    this.placeholders = placeholders;
    this.problems = problems;
    boolean absent = node.isMissingNode() || node.isNull();
    if (!absent && !node.isObject()) {
      problems.add(new ConfigProblem(path, "expected an object, found " + shown(node)));
    }
    this.node = node.isObject() ? node : MissingNode.getInstance();
  }

  JsonNode node() {
    return node;
  }

  List<ConfigProblem> problems() {
    return problems;
  }

  boolean has(String key) {
    return node.hasNonNull(key);
  }

  Section section(String key) {
    return new Section(node.path(key), at(key), placeholders, problems);
  }

  /** One object of a list. */
  Section element(String key, int index) {
    String name = key + "[" + index + "]";
    return new Section(node.path(key).path(index), at(name), placeholders, problems);
  }

  String text(String key, String otherwise) {
    JsonNode value = node.path(key);
    if (isAbsent(value)) {
      return otherwise;
    }
    if (!value.isTextual()) {
      complain(key, "expected a string, found " + shown(value));
      return otherwise;
    }
    return resolved(key, value.textValue());
  }

  /** A PEM file that is there, and holds what it should. */
  Path pem(String key, String marker) {
    String named = text(key, "");
    Path path = path(named);
    if (path == null || !holds(path, marker)) {
      complain(key, "expected a PEM file with \"" + marker + "\", found \"" + named + '"');
    }
    return path;
  }

  /** Null for a text that no file can have for its name. */
  static Path path(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static boolean holds(Path path, String marker) {
    try {
      return Files.readString(path).contains(marker);
    } catch (IOException e) {
      return false;
    }
  }

  String oneOf(String key, String otherwise, String... allowed) {
    String value = text(key, otherwise);
    if (value != otherwise && !List.of(allowed).contains(value)) {
      complain(key, "expected one of " + String.join(", ", allowed) + ", found \"" + value + '"');
      return otherwise;
    }
    return value;
  }

  int integer(String key, int otherwise, int min, int max) {
    JsonNode value = node.path(key);
    if (isAbsent(value)) {
      return otherwise;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.intValue() < min
        || value.intValue() > max) {
      complain(
          key, "expected a whole number from " + min + " to " + max + ", found " + shown(value));
      return otherwise;
    }
    return value.intValue();
  }

  /** A number of seconds, fractions allowed, as milliseconds. */
  long seconds(String key, double otherwise, double min, double max) {
    JsonNode value = node.path(key);
    if (isAbsent(value)) {
      return (long) (otherwise * 1000);
    }
    if (!value.isNumber() || value.doubleValue() < min || value.doubleValue() > max) {
      complain(key, "expected seconds from " + min + " to " + max + ", found " + shown(value));
      return (long) (otherwise * 1000);
    }
    return Math.round(value.doubleValue() * 1000);
  }

  double number(String key, double otherwise, double min, double max) {
    JsonNode value = node.path(key);
    if (isAbsent(value)) {
      return otherwise;
    }
    if (!value.isNumber() || value.doubleValue() < min || value.doubleValue() > max) {
      complain(key, "expected a number from " + min + " to " + max + ", found " + shown(value));
      return otherwise;
    }
    return value.doubleValue();
  }

  /** A size, as a number of bytes or with k, m or g. */
  long bytes(String key, String otherwise, long min, long max) {
    JsonNode value = node.path(key);
    long size = isAbsent(value) ? Bytes.of(otherwise) : Bytes.of(value.asText());
    if (size < min || size > max) {
      complain(key, "expected a size like 512m from " + min + " bytes on, found " + shown(value));
      return Bytes.of(otherwise);
    }
    return size;
  }

  boolean flag(String key, boolean otherwise) {
    JsonNode value = node.path(key);
    if (isAbsent(value)) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      complain(key, "expected true or false, found " + shown(value));
      return otherwise;
    }
    return value.booleanValue();
  }

  List<String> texts(String key, int maxItems) {
    JsonNode value = node.path(key);
    List<String> texts = new ArrayList<>();
    if (isAbsent(value)) {
      return texts;
    }
    if (!value.isArray() || value.size() > maxItems) {
      complain(key, "expected a list of at most " + maxItems + " strings, found " + shown(value));
      return texts;
    }
    for (int i = 0; i < value.size(); i++) {
      if (value.get(i).isTextual()) {
        texts.add(resolved(key + "[" + i + "]", value.get(i).textValue()));
      } else {
        complain(key + "[" + i + "]", "expected a string, found " + shown(value.get(i)));
      }
    }
    return texts;
  }

  Map<String, String> textsByName(String key) {
    Map<String, String> texts = new LinkedHashMap<>();
    section(key)
        .each(
            (name, value) -> {
              if (value.isTextual()) {
                texts.put(name, resolved(key + "." + name, value.textValue()));
              } else {
                complain(key + "." + name, "expected a string, found " + shown(value));
              }
            });
    return texts;
  }

  void each(BiConsumer<String, JsonNode> visitor) {
    node.properties().forEach(entry -> visitor.accept(entry.getKey(), entry.getValue()));
  }

  /** Complains about keys that have no meaning here; of very many about the first. */
  void allowOnly(List<String> known) {
    List<String> unknown = new ArrayList<>();
    each(
        (key, value) -> {
          if (!known.contains(key)) {
            unknown.add(key);
          }
        });
    unknown.stream()
        .limit(MAX_UNKNOWN)
        .forEach(
            key ->
                complain(
                    key,
                    SpellingSuggestion.to(key, known)
                        .map(Section::unknown)
                        .orElse("unknown key, expected one of " + String.join(", ", known))));
    if (unknown.size() > MAX_UNKNOWN) {
      complain("", (unknown.size() - MAX_UNKNOWN) + " more unknown keys");
    }
  }

  /**
   * Complains about keys that look like known ones, and warns of the others: where files of other
   * clients are read those have keys of their own.
   */
  void allowStrangers(Collection<String> known, List<ConfigProblem> warnings) {
    each(
        (key, value) -> {
          if (known.contains(key)) {
            return;
          }
          SpellingSuggestion.to(key, known)
              .filter(meant -> !STRANGERS.contains(key))
              .ifPresentOrElse(
                  meant -> complain(key, unknown(meant)),
                  () -> warnings.add(new ConfigProblem(at(key), ignored(key, known))));
        });
  }

  private static String unknown(String meant) {
    return "unknown key, did you mean " + meant + "?";
  }

  private static String ignored(String key, Collection<String> known) {
    return SpellingSuggestion.endOf(key, known)
        .map(meant -> "unknown key, ignored; did you mean " + meant + "?")
        .orElse("unknown key, ignored");
  }

  void complain(String key, String what) {
    problems.add(new ConfigProblem(at(key), what));
  }

  String at(String key) {
    return path.isEmpty() ? key : key.isEmpty() ? path : path + "." + key;
  }

  static String shown(JsonNode value) {
    if (value.isContainerNode()) {
      return value.isArray() ? "a list of " + value.size() : "an object";
    }
    String text = value.toString();
    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }

  private String resolved(String key, String text) {
    try {
      return placeholders.resolve(text);
    } catch (IllegalArgumentException e) {
      complain(key, e.getMessage());
      return text;
    }
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }
}
