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

/** A model that is asked for JSON, and what it may say instead. */
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

  private void says(String content) {
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
  void wordsAndFencesAroundTheJsonAreOverlooked(String content) throws Exception {
    says(content);

    ModelReply modelReply = provider.ask("hello");

    assertEquals("Hello {you}.", modelReply.text());
    assertEquals(List.of("Hello {you}."), provider.heard);
    assertEquals(1, provider.requests().size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"callTool\":{\"name\":\"f\",\"arguments\":\"{\\\"n\\\":1.10}\"},\"toUser\":null}",
        "{\"callTool\":{\"name\":\"f\",\"arguments\":{\"n\":1.10}}}"
      })
  void argumentsMayBeATextOrAnObject(String content) throws Exception {
    says(content);

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
  void whatCannotBeUsedIsAskedForAgainWithTheReason(String content) throws Exception {
    // Given
    says(content);
    says(GOOD);

    // When
    ModelReply modelReply = provider.ask("hello");

    // Then
    assertEquals("Hello {you}.", modelReply.text());
    assertEquals(List.of("Hello {you}."), provider.heard);
    assertEquals(new ModelReply.Usage(22, 14), modelReply.usage());
    JsonNode again = provider.body(1).path("messages");
    assertEquals(4, again.size());
    assertEquals(content, again.at("/2/content").asText());
    String why = again.at("/3/content").asText();
    assertTrue(why.matches("That could not be used: .{10,}\\. Answer again, .*"), why);
    // And what went wrong is no part of the conversation.
    says(GOOD);
    provider.ask("and?");
    assertEquals(4, provider.body(2).path("messages").size());
  }

  @Test
  void afterFourAttemptsItIsAFailure() throws Exception {
    for (int i = 0; i < 5; i++) {
      says("Hello!");
    }

    BridgeException failure = assertThrows(BridgeException.class, () -> provider.ask("hello"));

    assertEquals(ErrorCode.UPSTREAM_PROTOCOL_ERROR, failure.code());
    assertTrue(failure.getMessage().contains("4 times: it is no JSON object"), failure.toString());
    assertEquals(4, provider.requests().size());
  }

  @Test
  void aCallIsNotTakenWhereNoneMayBeMade() throws Exception {
    says(CALL);
    says(GOOD);

    ModelReply modelReply = provider.reply(ScriptedProvider.NO_TOOLS, false);

    assertEquals("Hello {you}.", modelReply.text());
    assertEquals(2, provider.requests().size());
  }

  @Test
  void eachCallHasAnIdOfItsOwn() throws Exception {
    says(CALL);
    says(CALL);

    String first = provider.ask("do").calls().get(0).id();
    String second = provider.ask("do").calls().get(0).id();

    assertTrue(!first.equals(second), first);
  }

  @Test
  void aServerThatKnowsNoSchemasIsAskedWithoutOneFromThenOn() throws Exception {
    // Given
    provider.then(provider.fails(400, "This response_format type is unavailable now"));
    says(GOOD);
    says(GOOD);

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
  void anotherRefusalIsNotTakenForThat() throws Exception {
    provider.then(provider.fails(400, "The model does not exist"));

    assertThrows(BridgeException.class, () -> provider.ask("hello"));

    assertEquals(1, provider.requests().size());
  }
}
