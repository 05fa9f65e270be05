package dev.mcpbridge.it.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Output schemas of operations: responses match them, or the violation is reported. */
@Tag("openapi")
class OpenApiPromisesIT {
  private static final String OBJECT =
      "'content':{'application/json':{'schema':{'type':'object','required':['id']}}}";

  @AutoClose private static EchoApi api;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    ApiDocument document =
        ApiDocument.create()
            .with("get", "/kept", "kept", responses("'200':{" + OBJECT + "}"))
            .with("get", "/empty", "empty", responses("'200':{" + OBJECT + "}"))
            .with("get", "/array", "array", responses("'200':{" + OBJECT + "}"))
            .with("get", "/words", "words", responses("'200':{" + OBJECT + "}"))
            .with("get", "/image", "image", responses("'200':{" + OBJECT + "}"))
            .with("get", "/either", "either", responses("'200':{" + OBJECT + "},'204':{}"));
    api =
        EchoApi.start()
            .on("/openapi.json", document.asScript())
            .on("/kept", 200, "application/json", "{\"id\":1}")
            .on("/empty", 204, null, "")
            .on("/array", 200, "application/json", "[{\"id\":1}]")
            .on("/words", 200, "text/plain", "done")
            .on("/image", 200, "image/png", new byte[] {1, 2})
            .on("/either", 204, null, "");
    bridge = TestBridge.serving("{'type':'openapi','url':'" + api.url("/openapi.json") + "'}");
  }

  private static String responses(String responses) {
    return "'responses':{" + responses + "}";
  }

  @Test
  void matchingResponseBecomesStructuredContent() throws Exception {
    assertEquals(1, bridge.call("kept", "{}").body().at("/structuredContent/id").asInt());
  }

  @Test
  void optionalResponseBodyMeansNoOutputSchema() throws Exception {
    for (JsonNode tool : bridge.get("/servers/s/tools").body().path("tools")) {
      boolean hasOutputSchema = !tool.path("name").asText().equals("either");
      assertEquals(hasOutputSchema, tool.has("outputSchema"), tool.toString());
    }
    Answer answer = bridge.call("either", "{}");
    assertFalse(answer.body().path("isError").asBoolean());
    assertEquals("HTTP 204 Said", answer.firstText());
  }

  /** Clients must refuse such a result unless it is an error (MCP server/tools). */
  @ParameterizedTest
  @CsvSource({"empty,204", "array,200", "words,200", "image,200"})
  void violatedOutputSchemaIsAnErrorOfAnExecutedCall(String tool, int status) throws Exception {
    Answer answer = bridge.call(tool, "{}");

    assertEquals(200, answer.status());
    assertTrue(answer.body().path("isError").asBoolean(), answer.text());
    assertTrue(answer.text().contains("was executed (HTTP " + status), answer.text());
    assertEquals(2, answer.body().path("content").size(), "the response is missing");
  }
}
