package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.dialect.ContentBlock;
import dev.mcpbridge.dialect.Format;
import dev.mcpbridge.dialect.Function;
import dev.mcpbridge.dialect.FunctionResult;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Validates all requests to models against the types that their providers publish. */
class ModelRequestTypesIT {
  private static final String SCHEMA =
      """
      {"type": "object", "required": ["when"], "additionalProperties": false, "properties": {
        "when": {"type": "string", "format": "date-time", "description": "The day"},
        "how": {"enum": ["a", "b"]},
        "many": {"type": ["integer", "null"], "minimum": 1},
        "list": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
       "$defs": {"item": {"type": "object", "properties": {"price": {"type": "number"}}}}}
      """;

  private static final List<Recorded.Call> CALLS =
      List.of(
          new Recorded.Call("id_1", "one", "{\"n\":1.10,\"t\":\"ü\"}"),
          new Recorded.Call("id_2", "two", ""),
          new Recorded.Call("id_3", "one", "{}"));

  @TempDir Path folder;

  @Test
  void requestsMatchTheTypesOfTheirProviders() throws Exception {
    Requirements.npmProgram("@anthropic-ai/sdk/package.json");
    Requirements.npmProgram("@google/genai/package.json");
    // Given
    ArrayNode all = Json.mapper().createArrayNode();
    for (Recorded recorded : Recorded.values()) {
      List<String> requests = requests(recorded);
      requests.forEach(text -> all.addArray().add(recorded.name()).add(text));
    }
    int validCount = all.size();
    for (Recorded recorded : Recorded.values()) {
      invalidVariants(requests(recorded).get(2), recorded)
          .forEach(text -> all.addArray().add(recorded.name()).add(text));
    }

    // When
    JsonNode problems = validate(all);

    // Then
    assertEquals(all.size(), problems.size());
    for (int i = 0; i < all.size(); i++) {
      String description = all.get(i) + " " + problems.get(i);
      assertEquals(i < validCount, problems.get(i).isEmpty(), description);
    }
  }

  /** The requests of a long conversation that covers all kinds of replies. */
  private static List<String> requests(Recorded recorded) throws Exception {
    try (ScriptedProvider provider = new ScriptedProvider(recorded)) {
      Recorded.Answers answers = recorded.answers;
      JsonNode tools = tools(provider.model.format());
      provider.then(answers.text(List.of("Hello ", "🎉")));
      provider.ask("hello");
      for (String words : List.of("I look.", "")) {
        provider.then(answers.calls(words, CALLS)).then(answers.text(List.of("Done.")));
        provider.add(List.of(provider.model.userMessage("do")));
        provider.add(provider.model.resultMessages(results(provider.reply(tools, true))));
        provider.reply(tools, true);
      }
      provider.then(answers.empty()).then(answers.refused()).then(answers.cut("It is"));
      provider.then(answers.cutWithinCall());
      for (int i = 0; i < 4; i++) {
        provider.ask("go on");
      }
      if (recorded == Recorded.STRUCTURED) {
        provider.then(List.of(RecordedStructured.whole("no JSON", null, "stop")));
        provider.then(provider.fails(400, "response_format is not known here"));
      }
      provider.then(answers.text(List.of("The end.")));
      provider.model = provider.model("", ScriptedProvider.KEY, Duration.ofSeconds(10), 1_000);
      provider.add(List.of(provider.model.userMessage("answer now")));
      provider.reply(tools, false);
      return provider.requests().stream().map(EchoApi.Request::text).toList();
    }
  }

  private static JsonNode tools(Format format) throws Exception {
    List<JsonSlice> definitions = new ArrayList<>();
    for (String schema : List.of(SCHEMA, "{\"type\":\"object\"}")) {
      Function function =
          new Function("f" + definitions.size(), "Does it.", Json.mapper().readTree(schema));
      definitions.add(
          format.definition(function, format.dialect(false).reduce(function.inputSchema())));
    }
    return Json.exactTree(format.tools(definitions));
  }

  private static List<FunctionResult> results(ModelReply modelReply) {
    List<ContentBlock> parts =
        List.of(
            new ContentBlock.Text("some ü words"),
            new ContentBlock.Media("image/png", "aW1hZ2U="),
            new ContentBlock.Media("audio/wav", "c291bmQ="),
            new ContentBlock.Media("application/pdf", "cGRm"));
    List<FunctionResult> answers = new ArrayList<>();
    modelReply.calls().forEach(call -> answers.add(new FunctionResult(call, false, parts)));
    answers.set(0, FunctionResult.of(modelReply.calls().get(0), true, "It failed."));
    return answers;
  }

  /** Variants with an unknown member, with a nested unknown member, and without messages. */
  private static List<String> invalidVariants(String request, Recorded recorded) throws Exception {
    String messages = recorded == Recorded.GEMINI ? "contents" : "messages";
    ObjectNode more = (ObjectNode) Json.mapper().readTree(request);
    ObjectNode deep = more.deepCopy();
    ObjectNode less = more.deepCopy();
    more.put("unheard_of", 1);
    ((ObjectNode) deep.path(messages).path(1)).put("unheard_of", 1);
    less.remove(messages);
    return List.of(more.toString(), deep.toString(), less.toString());
  }

  private JsonNode validate(JsonNode requests) throws Exception {
    Path list = folder.resolve("requests.json");
    Files.writeString(list, requests.toString());
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process =
        new ProcessBuilder(
                Requirements.node().toString(),
                Requirements.nodeServer("model-requests.mjs").toString(),
                list.toString(),
                Path.of(".tools/node/generated/model-requests").toAbsolutePath().toString())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      assertTrue(process.waitFor(120, TimeUnit.SECONDS), "the check did not end");
    } finally {
      process.destroyForcibly();
    }
    assertEquals(0, process.exitValue(), Files.readString(err));
    return Json.mapper().readTree(Files.readString(out));
  }
}
