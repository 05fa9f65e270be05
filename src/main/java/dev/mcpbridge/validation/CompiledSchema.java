package dev.mcpbridge.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Error;
import com.networknt.schema.OutputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialect;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * A compiled schema, or the reason why it is unusable. References to other documents are never
 * fetched, patterns run in linear time, and {@code format} is an annotation. Thread-safe.
 */
final class CompiledSchema {
  static final int MAX_BYTES = 1 << 20;
  private static final WorkBudget.Size COMPILATION = new WorkBudget.Size(200_000, 500);

  private final Schema schema;
  private final String problem;

  private CompiledSchema(Schema schema, String problem) {
    this.schema = schema;
    this.problem = problem;
  }

  /** Compiles a schema, in half a second at most. */
  static CompiledSchema of(JsonSlice text) {
    if (text.length() > MAX_BYTES) {
      return unusable("it is larger than " + (MAX_BYTES >> 10) + " KiB");
    }
    WorkBudget budget = COMPILATION.open();
    try {
      JsonNode node = Json.tree(text);
      Dialect dialect = BudgetedKeyword.dialect(node.path("$schema").asText(""), budget);
      Schema schema = registry(dialect, budget).getSchema(node);
      schema.initializeValidators();
      budget.done();
      return new CompiledSchema(schema, null);
    } catch (IOException | RuntimeException | StackOverflowError e) {
      return unusable(budget.isExceeded() ? "compiling it takes too much work" : reason(e));
    }
  }

  private static CompiledSchema unusable(String reason) {
    return new CompiledSchema(null, reason);
  }

  private static String reason(Throwable e) {
    return e instanceof StackOverflowError
        ? "it is nested too deeply"
        : String.valueOf(e.getMessage());
  }

  /** A nested {@code $schema} gets a budgeted dialect, too. */
  private static SchemaRegistry registry(Dialect dialect, WorkBudget budget) {
    return SchemaRegistry.builder()
        .defaultDialectId(dialect.getId())
        .dialectRegistry(
            (id, registry) ->
                id.equals(dialect.getId()) ? dialect : BudgetedKeyword.dialect(id, budget))
        .schemaLoader(loader -> loader.fetchRemoteResources(false))
        .schemaRegistryConfig(
            SchemaRegistryConfig.builder()
                .locale(Locale.ROOT)
                .regularExpressionFactory(new LinearRegex())
                .formatAssertionsEnabled(false)
                .build())
        .build();
  }

  /** The reason why it is unusable; null if it is usable. */
  String problem() {
    return problem;
  }

  /** Validates on the calling thread. */
  Verdict validate(JsonNode value, WorkBudget.Size size) {
    WorkBudget budget = size.open();
    try {
      List<Error> errors = schema.validate(new ValidationRun(budget), value, OutputFormat.DEFAULT);
      return errors.isEmpty()
          ? Verdict.FITS
          : new Verdict.Mismatch(
              errors.stream().limit(ValidationRun.MAX_ERRORS).map(Error::toString).toList());
    } catch (RuntimeException | StackOverflowError e) {
      return budget.isExceeded()
          ? new Verdict.Unchecked(
              "it takes more than " + size.steps() + " steps or " + size.millis() + " ms", true)
          : new Verdict.Unchecked(reason(e), false);
    }
  }
}
