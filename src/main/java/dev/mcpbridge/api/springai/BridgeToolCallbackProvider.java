package dev.mcpbridge.api.springai;

import dev.mcpbridge.api.Tool;
import dev.mcpbridge.api.Tools;
import java.util.Map;
import java.util.function.Function;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * The tools of a bridge for chat clients of Spring AI. They are listed anew whenever they are asked
 * for. A call that waits for a human, or fails, is a text for the model that says so and whether
 * the call was executed, and never an exception, which would be repeated. Blocks, as its interface
 * does: not for event loops. Thread-safe.
 */
public final class BridgeToolCallbackProvider implements ToolCallbackProvider {
  private final Tools listed;
  private final Function<ToolContext, Tools> tools;

  /** The same tools for all requests. */
  public BridgeToolCallbackProvider(Tools tools) {
    this(tools, context -> tools);
  }

  /**
   * @param listed the tools that models are told of
   * @param tools chooses the caller of the bridge, by the context of a request, which is empty if a
   *     request has none
   */
  public BridgeToolCallbackProvider(Tools listed, Function<ToolContext, Tools> tools) {
    this.listed = listed;
    this.tools = tools;
  }

  @Override
  public ToolCallback[] getToolCallbacks() {
    return listed.listAndWait().stream()
        .map(tool -> new Callback(definition(tool), tools))
        .toArray(ToolCallback[]::new);
  }

  private static ToolDefinition definition(Tool tool) {
    return ToolDefinition.builder()
        .name(tool.name())
        .description(tool.description().isEmpty() ? tool.name() : tool.description())
        .inputSchema(tool.inputSchema())
        .build();
  }

  private record Callback(ToolDefinition definition, Function<ToolContext, Tools> tools)
      implements ToolCallback {
    @Override
    public ToolDefinition getToolDefinition() {
      return definition;
    }

    @Override
    public String call(String arguments) {
      return call(arguments, null);
    }

    @Override
    public String call(String arguments, ToolContext context) {
      boolean isEmpty = arguments == null || arguments.isBlank();
      return tools
          .apply(context == null ? new ToolContext(Map.of()) : context)
          .callAndWait(definition.name(), isEmpty ? "{}" : arguments)
          .text();
    }
  }
}
