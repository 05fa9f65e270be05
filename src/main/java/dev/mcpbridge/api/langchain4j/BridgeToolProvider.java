package dev.mcpbridge.api.langchain4j;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import dev.langchain4j.service.tool.ToolExecutionResult;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.langchain4j.service.tool.ToolProvider;
import dev.langchain4j.service.tool.ToolProviderRequest;
import dev.langchain4j.service.tool.ToolProviderResult;
import dev.mcpbridge.api.Outcome;
import dev.mcpbridge.api.Tool;
import dev.mcpbridge.api.Tools;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The tools of a bridge for the AI services of LangChain4j. They are listed anew for every
 * question. A call that waits for a human, or fails, is a text for the model that says so and
 * whether the call was executed. Blocks, as its interface does: not for event loops. Thread-safe.
 */
public final class BridgeToolProvider implements ToolProvider {
  private static final JsonMapper JSON = new JsonMapper();

  private final Function<ToolProviderRequest, Tools> tools;

  /** The same tools for all questions. */
  public BridgeToolProvider(Tools tools) {
    this(request -> tools);
  }

  /**
   * @param tools chooses the caller of the bridge, by the memory or the parameters of a question
   */
  public BridgeToolProvider(Function<ToolProviderRequest, Tools> tools) {
    this.tools = tools;
  }

  @Override
  public ToolProviderResult provideTools(ToolProviderRequest request) {
    Tools ofCaller = tools.apply(request);
    ToolProviderResult.Builder result = ToolProviderResult.builder();
    ofCaller
        .listAndWait()
        .forEach(tool -> result.add(specification(tool), new Executor(ofCaller, tool.name())));
    return result.build();
  }

  @Override
  public boolean isDynamic() {
    return true;
  }

  /**
   * Properties and definitions keep their schemas; alternatives of the whole object are left out.
   */
  private static ToolSpecification specification(Tool tool) {
    JsonNode schema = read(tool.inputSchema());
    JsonObjectSchema.Builder parameters =
        JsonObjectSchema.builder()
            .addProperties(schemas(schema.path("properties")))
            .required(texts(schema.path("required")));
    if (schema.path("additionalProperties").isBoolean()) {
      parameters.additionalProperties(schema.path("additionalProperties").booleanValue());
    }
    if (schema.path("$defs").isObject()) {
      parameters.definitions(schemas(schema.path("$defs")));
    }
    return ToolSpecification.builder()
        .name(tool.name())
        .description(tool.description())
        .parameters(parameters.build())
        .build();
  }

  private static JsonNode read(String schema) {
    try {
      return JSON.readTree(schema);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the bridge has read the schema before", e);
    }
  }

  private static Map<String, JsonSchemaElement> schemas(JsonNode members) {
    Map<String, JsonSchemaElement> schemas = new LinkedHashMap<>();
    members
        .properties()
        .forEach(
            each -> schemas.put(each.getKey(), JsonRawSchema.from(each.getValue().toString())));
    return schemas;
  }

  private static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(each -> texts.add(each.asText()));
    return texts;
  }

  private record Executor(Tools tools, String name) implements ToolExecutor {
    @Override
    public String execute(ToolExecutionRequest request, Object memoryId) {
      return run(request).text();
    }

    @Override
    public ToolExecutionResult executeWithContext(
        ToolExecutionRequest request, InvocationContext context) {
      Outcome outcome = run(request);
      boolean isError = !(outcome instanceof Outcome.Completed completed) || completed.isError();
      return ToolExecutionResult.builder()
          .isError(isError)
          .result(outcome)
          .resultText(outcome.text())
          .build();
    }

    private Outcome run(ToolExecutionRequest request) {
      String arguments = request.arguments();
      boolean isEmpty = arguments == null || arguments.isBlank();
      return tools.callAndWait(name, isEmpty ? "{}" : arguments);
    }
  }
}
