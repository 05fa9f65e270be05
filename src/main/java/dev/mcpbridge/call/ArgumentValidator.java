package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.validation.SchemaValidator;
import dev.mcpbridge.validation.SchemaValidator.Subject;
import dev.mcpbridge.validation.Verdict;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks arguments against a tool's {@code inputSchema}. A call is not refused for an unusable
 * schema, since the upstream validates as well; whether it is refused when a check exceeds its work
 * budget is configured. Confined to its verticle.
 */
public final class ArgumentValidator {
  private static final int MAX_COMPILED = 500;
  private static final long COMPILE_MILLIS = 500;

  private final SchemaValidator validator;
  private final boolean refusesUnchecked;
  private final Counts counts;

  /**
   * @param refusesUnchecked whether arguments are refused if checking them exceeds the work budget
   */
  public ArgumentValidator(SchemaValidator validator, boolean refusesUnchecked, Counts counts) {
    this.validator = validator;
    this.refusesUnchecked = refusesUnchecked;
    this.counts = counts;
  }

  /** Fails with INVALID_ARGUMENTS and the list of mismatches, or with UNCHECKED. */
  Future<Void> check(CallRequest request, Tool tool) {
    if (tool == null || tool.inputSchema() == null) {
      return Future.succeededFuture();
    }
    Arguments arguments = request.arguments();
    Future<Verdict> verdict = verdict(request, tool, arguments.tree());
    return verdict.result() == Verdict.FITS
        ? Future.succeededFuture()
        : verdict
            .compose(
                first ->
                    first instanceof Verdict.Mismatch mismatch
                        ? withoutNulls(request, tool, mismatch)
                        : verdict)
            .compose(second -> toResult(request, second));
  }

  /**
   * The reasons why schemas of a server are unusable, by tool name. Schemas that were not compiled
   * before are compiled now; those that take longer than half a second are reported the next time.
   */
  public Future<Map<String, String>> unusable(ServerView server) {
    List<Future<?>> compiling = new ArrayList<>();
    for (Tool tool : server.catalogue().tools().values()) {
      if (tool.inputSchema() != null && compiling.size() < MAX_COMPILED) {
        Future<?> compiled =
            validator.compiled("server " + server.id(), subject(server.id(), tool));
        if (!compiled.isComplete()) {
          compiling.add(compiled);
        }
      }
    }
    return compiling.isEmpty()
        ? Future.succeededFuture(knownUnusable(server))
        : TimeLimit.of(COMPILE_MILLIS, Future.join(compiling))
            .transform(over -> Future.succeededFuture(knownUnusable(server)));
  }

  /** The same, for the schemas that were compiled before. */
  public Map<String, String> knownUnusable(ServerView server) {
    Map<String, String> unusable = new HashMap<>();
    for (Tool tool : server.catalogue().tools().values()) {
      String problem = tool.inputSchema() == null ? null : validator.problem(tool.digest());
      if (problem != null) {
        unusable.put(tool.name(), problem);
      }
    }
    return unusable;
  }

  private Future<Verdict> verdict(CallRequest request, Tool tool, JsonNode arguments) {
    Subject subject = subject(request.server(), tool);
    int bytes = request.arguments().json().length();
    return validator.validate(request.caller().share(), subject, arguments, bytes);
  }

  private static Subject subject(ServerId server, Tool tool) {
    return new Subject(
        tool.digest(), "inputSchema", tool.name(), server.name(), tool.inputSchema());
  }

  /**
   * Clients, above all models, send null for members that they omit. If the arguments match the
   * schema without these members, the call is allowed and the server decides about the nulls.
   */
  private Future<Verdict> withoutNulls(CallRequest request, Tool tool, Verdict.Mismatch mismatch) {
    JsonNode arguments = request.arguments().tree();
    if (!(arguments instanceof ObjectNode object) || !hasNull(object)) {
      return Future.succeededFuture(mismatch);
    }
    ObjectNode rest = object.objectNode();
    object.properties().stream()
        .filter(member -> !member.getValue().isNull())
        .forEach(member -> rest.set(member.getKey(), member.getValue()));
    return verdict(request, tool, rest);
  }

  private static boolean hasNull(ObjectNode object) {
    return object.properties().stream().anyMatch(member -> member.getValue().isNull());
  }

  private Future<Void> toResult(CallRequest request, Verdict verdict) {
    if (verdict instanceof Verdict.Mismatch mismatch) {
      return Future.failedFuture(
          new BridgeException(
                  ErrorCode.INVALID_ARGUMENTS, "The arguments do not match the tool's input schema")
              .with("errors", mismatch.errors()));
    }
    if (verdict instanceof Verdict.Unchecked unchecked) {
      counts.unchecked(request.server().name());
      if (unchecked.overBudget() && refusesUnchecked) {
        return Future.failedFuture(
            new BridgeException(
                ErrorCode.UNCHECKED,
                "The arguments could not be checked against the tool's input schema: "
                    + unchecked.reason()
                    + " (validation.onBudget is refuse)"));
      }
    }
    return Future.succeededFuture();
  }
}
