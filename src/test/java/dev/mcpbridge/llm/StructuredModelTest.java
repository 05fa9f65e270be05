package dev.mcpbridge.llm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A model with JSON output, and answers that do not match the schema. */
@Timeout(60)
class StructuredModelTest {
  private static final String GOOD = "{\"callTool\":null,\"toUser\":\"Hello {you}.\"}";
  private static final String CALL =
      "{\"callTool\":{\"name\":\"f\",\"arguments\":\"{}\"},\"toUser\":null}";

  private ScriptedProvider provider;

  @BeforeEach
  void start() throws Exception {
    provider = new ScriptedProvider(Recorded.STRUCTURED);
  }

  @AfterEach
  void stop() throws Exception {
    provider.close();
  }

  private void willAnswer(String content) {
    provider.then(List.of(RecordedStructured.whole(content, null, "stop")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        GOOD,
        " \n" + GOOD + "\n",
        "```json\n" + GOOD + "\n```",
        "```\n" + GOOD + "\n```",
        "Here it is:\n" + GOOD + "\nI hope that this helps!",
        "{\"toUser\":\"Hello {you}.\"}"
      })
  void textAndFencesAroundTheJsonAreIgnored(String content) throws Exception {
    willAnswer(content);

    ModelReply modelReply = provider.ask("hello");

    assertEquals("Hello {you}.", modelReply.text());
    assertEquals(List.of("Hello {you}."), provider.receivedText);
    assertEquals(1, provider.requests().size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"callTool\":{\"name\":\"f\",\"arguments\":\"{\\\"n\\\":1.10}\"},\"toUser\":null}",
        "{\"callTool\":{\"name\":\"f\",\"arguments\":{\"n\":1.10}}}"
      })
  void argumentsMayBeAStringOrAnObject(String content) throws Exception {
    willAnswer(content);

    ModelReply modelReply = provider.ask("do");

    assertEquals("f", modelReply.calls().get(0).name());
    assertEquals("{\"n\":1.10}", modelReply.calls().get(0).arguments().text());
    assertEquals("", modelReply.text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Hello!",
        "",
        "}{",
        "{\"callTool\":null,\"toUser\":null}",
        "{\"callTool\":null,\"toUser\":\" \"}",
        "{\"callTool\":{\"name\":\"f\",\"arguments\":\"{}\"},\"toUser\":\"I look.\"}",
        "{\"callTool\":{\"name\":\"\",\"arguments\":\"{}\"},\"toUser\":null}",
        "{\"callTool\":{\"name\":\"f\",\"arguments\":\"[1]\"},\"toUser\":null}",
        "{\"callTool\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"},\"toUser\":null}",
        "{\"callTool\":{\"name\":\"f\",\"arguments\":7},\"toUser\":null}"
      })
  void invalidAnswerIsRequestedAgainWithTheReason(String content) throws Exception {
    // Given
    willAnswer(content);
    willAnswer(GOOD);

    // When
    ModelReply modelReply = provider.ask("hello");

    // Then
    assertEquals("Hello {you}.", modelReply.text());
    assertEquals(List.of("Hello {you}."), provider.receivedText);
    assertEquals(new ModelReply.Usage(22, 14), modelReply.usage());
    JsonNode again = provider.body(1).path("messages");
    assertEquals(4, again.size());
    assertEquals(content, again.at("/2/content").asText());
    String why = again.at("/3/content").asText();
    assertTrue(why.matches("The answer is invalid: .{10,}\\. Answer again, .*"), why);
    // And the invalid answer is not part of the conversation.
    willAnswer(GOOD);
    provider.ask("and?");
    assertEquals(4, provider.body(2).path("messages").size());
  }

  @Test
  void fourthInvalidAnswerIsAnError() throws Exception {
    for (int i = 0; i < 5; i++) {
      willAnswer("Hello!");
    }

    BridgeException failure = assertThrows(BridgeException.class, () -> provider.ask("hello"));

    assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure.code());
    assertTrue(
        failure.getMessage().contains("4 times: it is not a JSON object"), failure.toString());
    assertEquals(4, provider.requests().size());
  }

  @Test
  void callIsInvalidIfCallsAreForbidden() throws Exception {
    willAnswer(CALL);
    willAnswer(GOOD);

    ModelReply modelReply = provider.reply(ScriptedProvider.NO_TOOLS, false);

    assertEquals("Hello {you}.", modelReply.text());
    assertEquals(2, provider.requests().size());
  }

  @Test
  void eachCallHasItsOwnId() throws Exception {
    willAnswer(CALL);
    willAnswer(CALL);

    String first = provider.ask("do").calls().get(0).id();
    String second = provider.ask("do").calls().get(0).id();

    assertTrue(!first.equals(second), first);
  }

  @Test
  void serverWithoutSchemaSupportGetsNoSchemaFromThenOn() throws Exception {
    // Given
    provider.then(provider.fails(400, "This response_format type is unavailable now"));
    willAnswer(GOOD);
    willAnswer(GOOD);

    // When
    provider.ask("hello");
    provider.ask("hello again");

    // Then
    assertEquals(3, provider.requests().size());
    assertEquals("json_schema", provider.body(0).at("/response_format/type").asText(), "no schema");
    assertTrue(provider.body(0).at("/response_format/json_schema/strict").asBoolean());
    assertTrue(!provider.body(1).has("response_format"));
    assertTrue(!provider.body(2).has("response_format"));
    assertEquals(
        provider.body(0).path("messages").toString(), provider.body(1).path("messages").toString());
  }

  @Test
  void otherErrorsDoNotDisableTheSchema() throws Exception {
    provider.then(provider.fails(400, "The model does not exist"));

    assertThrows(BridgeException.class, () -> provider.ask("hello"));

    assertEquals(1, provider.requests().size());
  }
}
