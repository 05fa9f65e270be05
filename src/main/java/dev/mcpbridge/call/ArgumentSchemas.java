package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;

/**
 * Checks arguments against a tool's {@code inputSchema}. A schema that cannot be used is no reason
 * to refuse a call, the upstream validates as well.
 */
public final class ArgumentSchemas {
  private static final int MAX_ERRORS = 20;

  private final CompiledSchemas compiled;

  public ArgumentSchemas(Vertx vertx) {
    this.compiled = new CompiledSchemas(vertx);
  }

  /** Loads the validator's classes before the first call has to wait for them; blocks. */
  public static Void warmUp() {
    JsonSlice schema =
        JsonSlice.of(
            "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^a\"}},"
                + "\"required\":[\"a\"]}");
    CompiledSchemas.compile("warm-up", schema)
        .ifPresent(s -> s.validate(Json.object().put("a", "a")));
    return null;
  }

  /** Fails with INVALID_ARGUMENTS and the list of what does not fit. */
  Future<Void> check(Tool tool, JsonNode arguments) {
    if (tool == null || tool.inputSchema() == null) {
      return Future.succeededFuture();
    }
    Optional<Schema> known = compiled.known(tool.digest());
    return known != null
        ? check(tool, known, arguments)
        : compiled
            .compile(tool.digest(), name(tool), tool.inputSchema())
            .compose(schema -> check(tool, schema, arguments));
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
      compiled.giveUp(tool.digest(), name(tool), e);
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

  private static String name(Tool tool) {
    return "inputSchema of tool " + tool.name();
  }

  private static BridgeException refusal(List<Error> errors) {
    List<String> shown = errors.stream().limit(MAX_ERRORS).map(Error::toString).toList();
    return new BridgeException(
            ErrorCode.INVALID_ARGUMENTS, "The arguments do not fit the tool's input schema")
        .with("errors", shown);
  }
}
