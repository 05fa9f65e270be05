package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.protocol.HeaderAnnotations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * One object of the configuration, read key by key against its schema. An invalid value is reported
 * with its path and replaced by the default, so that one pass finds all problems. Not thread-safe.
 */
final class Section {
  private static final int MAX_UNKNOWN = 20;

  private final JsonNode node;
  private final JsonNode schema;
  private final String path;
  private final Placeholders placeholders;
  private final List<ConfigProblem> problems;

  /** A root, whose unknown keys are not reported; see {@link #warnOfUnknown}. */
  Section(
      JsonNode node,
      JsonNode schema,
      String path,
      Placeholders placeholders,
      List<ConfigProblem> problems) {
    this.schema = schema;
    this.path = path;
    this.placeholders = placeholders;
    this.problems = problems;
    if (!isAbsent(node) && !node.isObject()) {
      report("", "expected an object, found " + SchemaCheck.abbreviate(node));
    }
    this.node = node.isObject() ? node : MissingNode.getInstance();
  }

  private Section(JsonNode node, JsonNode schema, String key, Section parent) {
    this(node, schema, parent.pathOf(key), parent.placeholders, parent.problems);
    if (schema.path("additionalProperties").isBoolean()) {
      rejectUnknown(keys());
    }
  }

  /** The section of {@code key} with another node as its content. */
  Section withContent(String key, JsonNode replacement) {
    return new Section(replacement, member(key), key, this);
  }

  JsonNode node() {
    return node;
  }

  List<ConfigProblem> problems() {
    return problems;
  }

  Placeholders placeholders() {
    return placeholders;
  }

  /** Whether it was received over the network and not read from the operator's own file. */
  boolean isFromApi() {
    return placeholders.areLiteral();
  }

  boolean has(String key) {
    return node.hasNonNull(key);
  }

  /** An object below this one; unknown keys in it are reported. */
  Section section(String key) {
    return new Section(node.path(key), member(key), key, this);
  }

  /** The objects of a list; a single object is read as a list of one, and null is an error. */
  List<Section> sections(String key) {
    JsonNode list = node.path(key);
    if (list.isNull()) {
      report(key, "expected a list, found null");
    }
    JsonNode listSchema = member(key);
    if (list.isObject() && listSchema.has("then")) {
      return List.of(new Section(list, ConfigSchema.element(listSchema), key, this));
    }
    List<Section> sections = new ArrayList<>();
    int size = value(key).size();
    for (int i = 0; i < size; i++) {
      String name = key + "[" + i + "]";
      sections.add(new Section(list.get(i), ConfigSchema.element(listSchema), name, this));
    }
    return sections;
  }

  /** This object with the alternative of its schema that has the same constant as {@code key}. */
  Section variant(String key) {
    List<String> constants = new ArrayList<>();
    for (JsonNode alternative : schema.path("oneOf")) {
      String constant = alternative.path("properties").path(key).path("const").asText();
      if (node.path(key).asText().equals(constant)) {
        return new Section(node, alternative, "", this);
      }
      constants.add(constant);
    }
    report(key, "expected one of " + String.join(", ", constants));
    return this;
  }

  /** Null if absent without a default. */
  String text(String key) {
    return value(key).textValue();
  }

  String text(String key, String fallback) {
    String text = text(key);
    return text == null ? fallback : text;
  }

  /** A value of any type that the schema allows; missing if it is absent or invalid. */
  JsonNode json(String key) {
    return value(key);
  }

  /** Only for keys with a default, like all numbers and flags below. */
  int integer(String key) {
    return value(key).intValue();
  }

  int integer(String key, int fallback) {
    return has(key) ? value(key).intValue() : fallback;
  }

  double number(String key) {
    return value(key).doubleValue();
  }

  /** A number of seconds, in milliseconds; 0 if absent without a default. */
  long seconds(String key) {
    return Math.round(value(key).doubleValue() * 1000);
  }

  /** A size like {@code 512m}, in bytes. */
  long bytes(String key) {
    return ByteSize.parse(value(key).asText());
  }

  boolean flag(String key) {
    return value(key).booleanValue();
  }

  List<String> texts(String key) {
    List<String> texts = new ArrayList<>();
    JsonNode list = value(key);
    for (int i = 0; i < list.size(); i++) {
      String name = key + "[" + i + "]";
      JsonNode text = fitting(name, list.get(i), ConfigSchema.element(member(key)));
      if (text.isTextual()) {
        texts.add(text.textValue());
      }
    }
    return texts;
  }

  /** Patterns in which {@code *} matches any characters. */
  List<Glob> globs(String key) {
    return texts(key).stream().map(Glob::new).toList();
  }

  /** The texts of an object by name; those that the test refuses are reported with the problem. */
  Map<String, Secret> secrets(String key, BiPredicate<String, String> isValid, String problem) {
    Map<String, Secret> secrets = new LinkedHashMap<>();
    Section section = section(key);
    for (String name : section.names()) {
      String text = section.text(name);
      if (text != null && !isValid.test(name, text)) {
        section.report(name, problem);
      } else if (text != null) {
        secrets.put(name, new Secret(text));
      }
    }
    return secrets;
  }

  /** Headers of requests; a name or value that HTTP does not allow is reported (RFC 9110). */
  Map<String, Secret> headers(String key) {
    return secrets(
        key,
        (name, value) -> HeaderAnnotations.isFieldName(name) && isFieldValue(value),
        "not a valid request header");
  }

  private static boolean isFieldValue(String value) {
    return value.chars().allMatch(c -> c >= 0x20 && c != 0x7F || c == '\t');
  }

  /** Reports null values, which elsewhere stand for absent ones: here absence allows more. */
  Section withoutNulls() {
    for (String name : names()) {
      if (node.path(name).isNull()) {
        report(name, "expected a value, found null; omit the key instead");
      }
    }
    return this;
  }

  /** The keys that are present, in the order of the text. */
  List<String> names() {
    return node.properties().stream().map(Map.Entry::getKey).toList();
  }

  /** A PEM file; one that cannot be read or does not contain the marker is reported. */
  Path pem(String key, String marker) {
    String name = text(key, "");
    Path file = path(name);
    if (file == null || !contains(file, marker)) {
      report(key, "expected a PEM file with \"" + marker + "\", found \"" + name + '"');
    }
    return file;
  }

  /** Null if the text is not a valid path. */
  static Path path(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static boolean contains(Path file, String marker) {
    try {
      return Files.readString(file).contains(marker);
    } catch (IOException e) {
      return false;
    }
  }

  /** The keys of the schema. */
  List<String> keys() {
    List<String> keys = new ArrayList<>();
    schema.path("properties").fieldNames().forEachRemaining(keys::add);
    return keys;
  }

  /** Reports all other keys, by name at most {@value #MAX_UNKNOWN} of them. */
  private void rejectUnknown(Collection<String> known) {
    List<String> unknown = new ArrayList<>(names());
    unknown.removeAll(known);
    for (String key : unknown.subList(0, Math.min(MAX_UNKNOWN, unknown.size()))) {
      report(
          key,
          SpellingSuggestion.to(key, known)
              .map(Section::unknown)
              .orElse("unknown key, expected one of " + String.join(", ", known)));
    }
    if (unknown.size() > MAX_UNKNOWN) {
      report("", (unknown.size() - MAX_UNKNOWN) + " more unknown keys");
    }
  }

  /** This object with only the known keys; all others are reported. */
  Section restrictedTo(Collection<String> known) {
    rejectUnknown(known);
    JsonNode restricted = node.deepCopy();
    if (restricted instanceof ObjectNode object) {
      object.retain(known);
    }
    return new Section(restricted, schema, path, placeholders, problems);
  }

  /**
   * Reports unknown keys that resemble known ones. Warns of all others, which belong to other
   * clients that use the same file.
   */
  void warnOfUnknown(List<ConfigProblem> warnings) {
    List<String> known = keys();
    for (String key : names()) {
      if (!known.contains(key)) {
        SpellingSuggestion.to(key, known)
            .ifPresentOrElse(
                similar -> report(key, unknown(similar)),
                () -> warnings.add(new ConfigProblem(pathOf(key), ignored(key, known))));
      }
    }
  }

  private static String unknown(String similar) {
    return "unknown key, did you mean " + similar + "?";
  }

  private static String ignored(String key, Collection<String> known) {
    return SpellingSuggestion.suffixOf(key, known)
        .map(similar -> "unknown key, ignored; did you mean " + similar + "?")
        .orElse("unknown key, ignored");
  }

  void report(String key, String what) {
    problems.add(new ConfigProblem(pathOf(key), what));
  }

  String pathOf(String key) {
    return path.isEmpty() ? key : key.isEmpty() ? path : path + "." + key;
  }

  private JsonNode member(String key) {
    return ConfigSchema.member(schema, key);
  }

  /** The value with its placeholders resolved; the default if it is absent or invalid. */
  private JsonNode value(String key) {
    JsonNode keySchema = member(key);
    JsonNode value = node.path(key);
    if (!isAbsent(value)) {
      return fitting(key, value, keySchema);
    }
    if (schema.path("required").valueStream().anyMatch(name -> name.textValue().equals(key))) {
      report(key, "is required");
    }
    return keySchema.path("default");
  }

  private JsonNode fitting(String key, JsonNode value, JsonNode keySchema) {
    JsonNode resolved = value.isTextual() ? resolved(key, value.textValue()) : value;
    if (resolved.isMissingNode()) {
      return keySchema.path("default");
    }
    String expected = SchemaCheck.violation(resolved, keySchema);
    if (expected == null) {
      return resolved;
    }
    report(key, expected + ", found " + SchemaCheck.abbreviate(value));
    return keySchema.path("default");
  }

  private JsonNode resolved(String key, String text) {
    try {
      return TextNode.valueOf(placeholders.resolve(text));
    } catch (IllegalArgumentException e) {
      report(key, e.getMessage());
      return MissingNode.getInstance();
    }
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }
}
