package dev.mcpbridge.it.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.internal.JsonSchemaElementUtils;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import dev.mcpbridge.api.Caller;
import dev.mcpbridge.api.langchain4j.BridgeToolProvider;
import dev.mcpbridge.fixture.CatalogueServer;
import dev.mcpbridge.fixture.HostProgram;
import dev.mcpbridge.fixture.TestBridge;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** AI services of LangChain4j call the tools of a bridge; only the model is scripted. */
@Tag("program")
class LangChain4jIT {
  private static final String ONE = "{'mcpServers':{'s':" + TestBridge.entry("") + "}}";

  interface Assistant {
    String ask(@MemoryId String user, @UserMessage String question);
  }

  /** Calls one tool, then answers with the result that it was given. */
  private static final class OneCall implements ChatModel {
    private final String tool;
    private final String arguments;
    private final List<ToolSpecification> offered = new ArrayList<>();
    private ToolExecutionResultMessage result;

    OneCall(String tool, String arguments) {
      this.tool = tool;
      this.arguments = arguments;
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
      Object last = request.messages().get(request.messages().size() - 1);
      if (last instanceof ToolExecutionResultMessage given) {
        result = given;
        return ChatResponse.builder().aiMessage(AiMessage.from(given.text())).build();
      }
      offered.addAll(request.toolSpecifications());
      ToolExecutionRequest call =
          ToolExecutionRequest.builder().id("1").name(tool).arguments(arguments).build();
      return ChatResponse.builder().aiMessage(AiMessage.from(call)).build();
    }

    Assistant with(BridgeToolProvider tools) {
      return AiServices.builder(Assistant.class)
          .chatModel(this)
          .chatMemoryProvider(user -> MessageWindowChatMemory.withMaxMessages(20))
          .toolProvider(tools)
          .build();
    }
  }

  @Test
  void modelGetsTheResultOfATool() {
    try (HostProgram program = HostProgram.with(ONE)) {
      OneCall model = new OneCall("s__echo", "{\"word\":\"grüße\"}");
      Assistant assistant = model.with(new BridgeToolProvider(program.bridge().tools()));

      String answer = assistant.ask("anna", "Say it.");

      assertTrue(answer.contains("grüße"), answer);
      assertEquals(false, model.result.isError());
    }
  }

  @Test
  void modelLearnsThatACallWaitsForAHumanAndThatOneHasFailed() {
    String held = "{'mcpServers':{'s':" + TestBridge.entry("'risk':{'tools':{'echo':2}}") + "}}";
    try (HostProgram program = HostProgram.with(held)) {
      BridgeToolProvider tools = new BridgeToolProvider(program.bridge().tools());

      String waits = new OneCall("s__echo", "{}").with(tools).ask("anna", "Say it.");
      OneCall broken = new OneCall("s__exit", "{\"code\":1}");
      String failed = broken.with(tools).ask("anna", "Say it.");

      assertTrue(waits.startsWith("confirmation_required: "), waits);
      assertTrue(waits.contains("It has not run"), waits);
      assertTrue(failed.startsWith("upstream_crashed: "), failed);
      assertTrue(failed.contains("check before you repeat it"), failed);
      assertEquals(true, broken.result.isError());
    }
  }

  @Test
  void eachMemoryMayHaveACallerOfItsOwn() {
    String rules =
        "'access':{'rules':[{'name':'anna','allow':['call'],"
            + "'who':{'principals':['program|anna']},'servers':['s']}]}";
    try (HostProgram program = HostProgram.with("{" + rules + "," + ONE.substring(1))) {
      OneCall model = new OneCall("s__echo", "{}");
      Assistant assistant =
          model.with(
              new BridgeToolProvider(
                  request ->
                      program.bridge().tools(Caller.named(request.chatMemoryId().toString()))));

      assistant.ask("anna", "Say it.");
      int ofAnna = model.offered.size();
      try {
        assistant.ask("bert", "Say it.");
      } catch (RuntimeException unknownTool) {
        assertTrue(unknownTool.getMessage().contains("s__echo"), unknownTool.getMessage());
      }

      assertTrue(ofAnna > 0);
      assertEquals(ofAnna, model.offered.size());
    }
  }

  @Test
  void schemasAreOfferedUnchanged(@TempDir Path folder) throws IOException {
    String schema =
        """
        {"type":"object","properties":{"at":{"$ref":"#/$defs/place"},"kind":{"enum":["a","b"]},\
        "n":{"type":"integer","minimum":1,"x-unit":"m"}},"required":["at"],\
        "additionalProperties":false,"$defs":{"place":{"oneOf":[{"type":"string"},\
        {"type":"array","items":{"type":"number"}}]}}}""";
    String tool = "[{\"name\":\"go\",\"inputSchema\":" + schema + "}]";
    String server = CatalogueServer.entry(folder.resolve("tools.json"), tool, "");
    try (HostProgram program = HostProgram.with("{'mcpServers':{'c':" + server + "}}")) {
      OneCall model = new OneCall("c__go", "{\"at\":\"here\"}");

      model.with(new BridgeToolProvider(program.bridge().tools())).ask("anna", "Go.");

      JsonObjectSchema offered = model.offered.get(0).parameters();
      JsonObject expected = new JsonObject(schema);
      assertEquals(expected.remove("additionalProperties"), offered.additionalProperties());
      assertEquals(expected, new JsonObject(JsonSchemaElementUtils.toMap(offered)));
    }
  }
}
