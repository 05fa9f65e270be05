package dev.mcpbridge.it.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.api.Caller;
import dev.mcpbridge.api.Tools;
import dev.mcpbridge.api.springai.BridgeToolCallbackProvider;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.TestBridge;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

/** The tool calling of Spring AI calls the tools of a bridge; only the model is scripted. */
@Tag("program")
class SpringAiIT {
  private static final String ONE = "{'mcpServers':{'s':" + TestBridge.entry("") + "}}";

  private final ToolCallingManager calling = DefaultToolCallingManager.builder().build();

  /** What the model is given after it has called one tool. */
  private String result(ToolCallback[] tools, Map<String, Object> context, String name) {
    ToolCallingChatOptions options =
        ToolCallingChatOptions.builder().toolCallbacks(tools).toolContext(context).build();
    AssistantMessage reply =
        AssistantMessage.builder()
            .content("")
            .toolCalls(
                List.of(new AssistantMessage.ToolCall("1", "function", name, "{\"word\":\"ö\"}")))
            .build();
    ToolExecutionResult result =
        calling.executeToolCalls(
            new Prompt("Say it.", options), new ChatResponse(List.of(new Generation(reply))));
    List<?> history = result.conversationHistory();
    return ((ToolResponseMessage) history.get(history.size() - 1))
        .getResponses()
        .get(0)
        .responseData();
  }

  @Test
  void modelGetsTheResultOfATool() {
    try (HostProgram program = HostProgram.with(ONE)) {
      ToolCallback[] tools =
          new BridgeToolCallbackProvider(program.bridge().tools()).getToolCallbacks();

      String result = result(tools, Map.of(), "s__echo");
      ToolDefinition echo =
          Stream.of(tools)
              .map(ToolCallback::getToolDefinition)
              .filter(each -> each.name().equals("s__echo"))
              .findFirst()
              .orElseThrow();

      assertTrue(result.contains("ö"), result);
      assertEquals("object", new JsonObject(echo.inputSchema()).getString("type"));
    }
  }

  @Test
  void modelLearnsThatACallWaitsForAHumanAndThatOneHasFailed() {
    String held = "{'mcpServers':{'s':" + TestBridge.entry("'risk':{'tools':{'echo':2}}") + "}}";
    try (HostProgram program = HostProgram.with(held)) {
      ToolCallback[] tools =
          new BridgeToolCallbackProvider(program.bridge().tools()).getToolCallbacks();

      String waits = result(tools, Map.of(), "s__echo");
      String failed = result(tools, Map.of(), "s__exit");

      assertTrue(waits.startsWith("confirmation_required: "), waits);
      assertTrue(failed.startsWith("upstream_crashed: "), failed);
    }
  }

  @Test
  void contextOfARequestMayNameItsCaller() {
    String rules =
        "'access':{'rules':[{'name':'anna','allow':['call'],"
            + "'who':{'principals':['program|anna']},'servers':['s']}]}";
    try (HostProgram program = HostProgram.with("{" + rules + "," + ONE.substring(1))) {
      Tools listed = program.bridge().tools(Caller.named("anna"));
      ToolCallback[] tools =
          new BridgeToolCallbackProvider(
                  listed,
                  context ->
                      program
                          .bridge()
                          .tools(Caller.named(context.getContext().get("user").toString())))
              .getToolCallbacks();

      String ofAnna = result(tools, Map.of("user", "anna"), "s__echo");
      String ofBert = result(tools, Map.of("user", "bert"), "s__echo");

      assertTrue(ofAnna.contains("ö"), ofAnna);
      assertTrue(ofBert.startsWith("tool_not_found: "), ofBert);
    }
  }
}
