package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.Dialects;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Compiles schemas, in the dialect they name or else 2020-12, once for each and on a worker thread.
 * A reference to another document is never fetched; a schema that cannot be used is none, and said
 * so once. Confined to its verticle.
 */
final class CompiledSchemas {
  private static final Logger LOG = System.getLogger(CompiledSchemas.class.getName());
  private static final int MAX_COMPILED = 20_000;

  private final Vertx vertx;
  private final Map<String, Optional<Schema>> compiled =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Optional<Schema>> eldest) {
          return size() > MAX_COMPILED;
        }
      };

  CompiledSchemas(Vertx vertx) {
    this.vertx = vertx;
  }

  /**
   * What is known already; null where it has to be compiled first.
   *
   * @param key another one for another schema
   */
  Optional<Schema> known(String key) {
    return compiled.get(key);
  }

  /**
   * Compiles.
   *
   * @param what the schema is, for the log
   */
  Future<Optional<Schema>> compile(String key, String what, JsonSlice schema) {
    return vertx
        .executeBlocking(() -> compile(what, schema), false)
        .onSuccess(done -> compiled.put(key, done));
  }

  /** One that turned out to be unusable is not used again. */
  void giveUp(String key, String what, Throwable why) {
    unusable(what, why);
    compiled.put(key, Optional.empty());
  }

  static Optional<Schema> compile(String what, JsonSlice text) {
    try {
      JsonNode node = Json.tree(text);
      Schema schema = registry(dialect(node)).getSchema(node);
      schema.initializeValidators();
      return Optional.of(schema);
    } catch (IOException | RuntimeException | StackOverflowError e) {
      unusable(what, e);
      return Optional.empty();
    }
  }

  private static void unusable(String what, Throwable why) {
    LOG.log(Level.WARNING, "the {0} is not checked: {1}", what, why);
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
