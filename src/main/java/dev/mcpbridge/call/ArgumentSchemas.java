package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.Dialects;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks arguments against a tool's {@code inputSchema}, in the dialect it names or else 2020-12.
 * Compiled once for each definition, on a worker thread; checked on the event loop. A reference to
 * another document is never fetched; a schema that cannot be used is no reason to refuse a call,
 * the upstream validates as well.
 */
public final class ArgumentSchemas {
  private static final Logger LOG = System.getLogger(ArgumentSchemas.class.getName());
  private static final int MAX_ERRORS = 20;
  private static final int MAX_COMPILED = 20_000;

  private final Vertx vertx;
  private final Map<String, Optional<Schema>> compiled =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Optional<Schema>> eldest) {
          return size() > MAX_COMPILED;
        }
      };

  public ArgumentSchemas(Vertx vertx) {
    this.vertx = vertx;
  }

  /** Loads the validator's classes before the first call has to wait for them; blocks. */
  public static Void warmUp() {
    JsonSlice schema =
        JsonSlice.of(
            "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^a\"}},"
                + "\"required\":[\"a\"]}");
    Tool tool = new Tool("warm-up", null, null, schema, schema, false, "");
    compile(tool).ifPresent(s -> s.validate(Json.mapper().createObjectNode().put("a", "a")));
    return null;
  }

  /** Fails with INVALID_ARGUMENTS and the list of what does not fit. */
  Future<Void> check(Tool tool, JsonNode arguments) {
    if (tool == null || tool.inputSchema() == null) {
      return Future.succeededFuture();
    }
    Optional<Schema> known = compiled.get(tool.digest());
    if (known != null) {
      return check(tool, known, arguments);
    }
    return vertx
        .executeBlocking(() -> compile(tool), false)
        .compose(
            schema -> {
              compiled.put(tool.digest(), schema);
              return check(tool, schema, arguments);
            });
  }

  private Future<Void> check(Tool tool, Optional<Schema> schema, JsonNode arguments) {
    if (schema.isEmpty()) {
      return Future.succeededFuture();
    }
    List<Error> errors;
    try {
      errors = schema.get().validate(arguments);
      if (!errors.isEmpty()) {
        errors = withoutNulls(schema.get(), arguments, errors);
      }
    } catch (RuntimeException | StackOverflowError e) {
      unusable(tool, e);
      compiled.put(tool.digest(), Optional.empty());
      return Future.succeededFuture();
    }
    return errors.isEmpty() ? Future.succeededFuture() : Future.failedFuture(refusal(errors));
  }

  /**
   * Clients, and models above all, write null for what they leave out. Where the arguments fit
   * without such members it is for the server to say what it thinks of them.
   */
  private static List<Error> withoutNulls(Schema schema, JsonNode arguments, List<Error> errors) {
    ObjectNode rest = arguments.deepCopy();
    rest.properties().removeIf(member -> member.getValue().isNull());
    return rest.size() == arguments.size() ? errors : schema.validate(rest);
  }

  private static BridgeException refusal(List<Error> errors) {
    List<String> shown = errors.stream().limit(MAX_ERRORS).map(Error::toString).toList();
    return new BridgeException(
            ErrorCode.INVALID_ARGUMENTS, "The arguments do not fit the tool's input schema")
        .with("errors", shown);
  }

  private static Optional<Schema> compile(Tool tool) {
    try {
      JsonNode node = Json.tree(tool.inputSchema());
      Schema schema = registry(dialect(node)).getSchema(node);
      schema.initializeValidators();
      return Optional.of(schema);
    } catch (IOException | RuntimeException | StackOverflowError e) {
      unusable(tool, e);
      return Optional.empty();
    }
  }

  private static void unusable(Tool tool, Throwable why) {
    LOG.log(Level.WARNING, "the inputSchema of tool {0} is not checked: {1}", tool.name(), why);
  }

  private static SchemaRegistry registry(Dialect dialect) {
    return SchemaRegistry.withDialect(
        dialect,
        builder ->
            builder
                .schemaLoader(loader -> loader.fetchRemoteResources(false))
                .schemaRegistryConfig(
                    SchemaRegistryConfig.builder()
                        .regularExpressionFactory(new LinearRegex())
                        .formatAssertionsEnabled(false)
                        .build()));
  }

  private static Dialect dialect(JsonNode schema) {
    String uri = schema.path("$schema").asText("");
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
}
