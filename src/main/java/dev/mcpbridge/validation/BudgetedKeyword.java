package dev.mcpbridge.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaContext;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.Dialects;
import com.networknt.schema.keyword.Keyword;
import com.networknt.schema.keyword.KeywordValidator;
import com.networknt.schema.path.NodePath;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A keyword of JSON Schema with a work budget: each evaluation spends steps of its run, and each
 * occurrence in a schema spends steps of the compilation.
 *
 * <p>An alternative of a union whose {@code const} properties contradict the value is rejected
 * before its other properties are evaluated. This makes a tree of discriminated unions linear,
 * which would otherwise be evaluated once for each alternative at each level.
 */
final class BudgetedKeyword implements Keyword {
  /** Annotations, which do not affect validation. */
  private static final Set<String> ANNOTATIONS =
      Set.of("title", "description", "default", "examples", "deprecated", "$comment");

  private final Keyword keyword;
  private final WorkBudget compilation;

  private BudgetedKeyword(Keyword keyword, WorkBudget compilation) {
    this.keyword = keyword;
    this.compilation = compilation;
  }

  /**
   * The dialect of {@code $schema}, by default 2020-12, with budgeted keywords. {@code format} is
   * not budgeted, because it is an annotation and takes no work.
   *
   * @param compilation the budget of the compilation
   */
  static Dialect dialect(String uri, WorkBudget compilation) {
    Dialect standard = standard(uri);
    return Dialect.builder(standard)
        .keywords(
            standard.getKeywords().values().stream()
                .filter(keyword -> !keyword.getValue().equals("format"))
                .map(keyword -> new BudgetedKeyword(keyword, compilation))
                .toList())
        .build();
  }

  private static Dialect standard(String uri) {
    if (uri.contains("draft-07")) {
      return Dialects.getDraft7();
    }
    if (uri.contains("draft-06")) {
      return Dialects.getDraft6();
    }
    if (uri.contains("draft-04")) {
      return Dialects.getDraft4();
    }
    return uri.contains("2019-09") ? Dialects.getDraft201909() : Dialects.getDraft202012();
  }

  @Override
  public String getValue() {
    return keyword.getValue();
  }

  /** Returns null for a keyword that cannot fail. */
  @Override
  public KeywordValidator newValidator(
      SchemaLocation location, JsonNode schema, Schema parent, SchemaContext context)
      throws Exception {
    compilation.spend(1 + schema.size());
    if (ANNOTATIONS.contains(getValue())) {
      return null;
    }
    KeywordValidator validator = keyword.newValidator(location, schema, parent, context);
    if (validator == null) {
      return null;
    }
    return switch (getValue()) {
      case "oneOf", "anyOf" -> new Union(validator, 1 + schema.size());
      case "properties" ->
          new Properties(
              validator, 1 + schema.size(), discriminators(location, schema, parent, context));
      case "uniqueItems" -> new OfArrays(validator);
      case "const", "enum" -> new Step(validator, nodes(schema));
      default -> new Step(validator, 1 + schema.size());
    };
  }

  private static List<Discriminator> discriminators(
      SchemaLocation location, JsonNode properties, Schema parent, SchemaContext context) {
    List<Discriminator> found = new ArrayList<>();
    for (Map.Entry<String, JsonNode> property : properties.properties()) {
      JsonNode schema = property.getValue();
      if (schema.has("const") || schema.path("enum").size() == 1) {
        String name = property.getKey();
        found.add(
            new Discriminator(name, context.newSchema(location.append(name), schema, parent)));
      }
    }
    return List.copyOf(found);
  }

  private static long nodes(JsonNode tree) {
    return 1 + tree.valueStream().mapToLong(BudgetedKeyword::nodes).sum();
  }

  /** A property with only one permitted value. */
  private record Discriminator(String name, Schema schema) {}

  private class Step implements KeywordValidator {
    private final KeywordValidator validator;
    private final long weight;

    Step(KeywordValidator validator, long weight) {
      this.validator = validator;
      this.weight = weight;
    }

    @Override
    public void validate(
        ExecutionContext context, JsonNode value, JsonNode root, NodePath location) {
      ValidationRun run = (ValidationRun) context;
      if (!run.isDecided()) {
        run.spend(weight + weight(value));
        check(run, value, root, location);
      }
    }

    void check(ValidationRun run, JsonNode value, JsonNode root, NodePath location) {
      validator.validate(run, value, root, location);
    }

    private static long weight(JsonNode value) {
      return switch (value.getNodeType()) {
        case ARRAY, OBJECT -> value.size();
        case STRING -> value.textValue().length() >> 4;
        default -> 0;
      };
    }

    @Override
    public void walk(
        ExecutionContext context,
        JsonNode value,
        JsonNode root,
        NodePath location,
        boolean shouldValidate) {
      validator.walk(context, value, root, location, shouldValidate);
    }

    @Override
    public SchemaLocation getSchemaLocation() {
      return validator.getSchemaLocation();
    }

    @Override
    public String getKeyword() {
      return validator.getKeyword();
    }

    @Override
    public void preloadSchema() {
      compilation.spend(weight);
      validator.preloadSchema();
    }
  }

  /** The library also applies {@code uniqueItems} to objects; 2020-12 validation 6.4.3 does not. */
  private final class OfArrays extends Step {
    OfArrays(KeywordValidator validator) {
      super(validator, 1);
    }

    @Override
    void check(ValidationRun run, JsonNode value, JsonNode root, NodePath location) {
      if (value.isArray()) {
        super.check(run, value, root, location);
      }
    }
  }

  private final class Union extends Step {
    Union(KeywordValidator validator, long weight) {
      super(validator, weight);
    }

    @Override
    void check(ValidationRun run, JsonNode value, JsonNode root, NodePath location) {
      boolean before = run.enterAlternatives();
      try {
        super.check(run, value, root, location);
      } finally {
        run.leave(before);
      }
    }
  }

  private final class Properties extends Step {
    private final List<Discriminator> discriminators;

    Properties(KeywordValidator validator, long weight, List<Discriminator> discriminators) {
      super(validator, weight);
      this.discriminators = discriminators;
    }

    @Override
    void check(ValidationRun run, JsonNode value, JsonNode root, NodePath location) {
      if (run.isInAlternative()) {
        discriminate(run, value, root, location);
      }
      if (!run.isDecided()) {
        super.check(run, value, root, location);
      }
    }

    private void discriminate(ValidationRun run, JsonNode value, JsonNode root, NodePath location) {
      for (Discriminator discriminator : discriminators) {
        JsonNode found = value.get(discriminator.name());
        if (found != null) {
          run.evaluationPathAddLast(discriminator.name());
          try {
            discriminator
                .schema()
                .validate(run, found, root, location.append(discriminator.name()));
          } finally {
            run.evaluationPathRemoveLast();
          }
        }
      }
    }
  }
}
