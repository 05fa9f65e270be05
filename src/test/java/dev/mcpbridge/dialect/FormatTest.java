package dev.mcpbridge.dialect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FormatTest {
  @ParameterizedTest
  @EnumSource(Format.class)
  void failedCallIsReportedToTheModel(Format format) throws Exception {
    // Given
    FunctionCall call = new FunctionCall("id", "f", JsonSlice.EMPTY_OBJECT);

    // When
    JsonSlice messages = format.messages(List.of(FunctionResult.of(call, true, "It is \"off\"")));

    // Then
    assertTrue(FormatPropertiesTest.texts(Json.tree(messages)).anyMatch("It is \"off\""::equals));
  }

  @ParameterizedTest
  @EnumSource(Format.class)
  void unsupportedImageIsDescribed(Format format) {
    // Given
    FunctionCall call = new FunctionCall("id", "f", JsonSlice.EMPTY_OBJECT);
    ContentBlock image = new ContentBlock.Media("image/svg+xml", "PHN2Zz4=");

    // When
    JsonSlice messages = format.messages(List.of(new FunctionResult(call, false, List.of(image))));

    // Then
    assertTrue(messages.text().contains("[image/svg+xml, 6 bytes]"));
  }

  @ParameterizedTest
  @EnumSource(Format.class)
  void noResultsYieldNoMessages(Format format) {
    assertEquals("[]", format.messages(List.of()).text());
    assertEquals(Optional.of(format), Format.of(format.id()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "OPENAI_CHAT | {'role':'assistant','content':'Hello','tool_calls':null}",
        "OPENAI_CHAT | {'choices':[{'message':{'content':'Hello','tool_calls':null}}]}",
        "OPENAI_CHAT | {'choices':[{'message':{'content':'Hello'}}]}",
        "OPENAI_CHAT | {'choices':[]}",
        "OPENAI_RESPONSES | {'output':[{'type':'message','content':[]}]}",
        "ANTHROPIC | {'role':'assistant','content':[{'type':'text','text':'Hello'}]}",
        "GEMINI | {'candidates':[{'content':{'parts':[{'text':'Hello','functionCall':null}]}}]}",
        "GEMINI | {'candidates':[{'finishReason':'SAFETY'}]}",
        "GEMINI | {'parts':null}"
      })
  void textResponseHasNoCalls(Format format, String body) {
    assertEquals(Optional.of(List.of()), format.calls(JsonSlice.of(body.replace('\'', '"'))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "OPENAI_CHAT | {'id':'i','function':{'name':'f','arguments':''}}",
        "OPENAI_CHAT | {'id':'i','function':{'name':'f','arguments':null}}",
        "OPENAI_CHAT | {'id':'i','function':{'name':'f'}}",
        "OPENAI_CHAT | {'id':'i','function':{'name':'f','arguments':{}}}",
        "OPENAI_RESPONSES | {'type':'function_call','call_id':'i','name':'f','arguments':''}",
        "ANTHROPIC | {'type':'tool_use','id':'i','name':'f','input':null}",
        "GEMINI | {'functionCall':{'id':'i','name':'f'}}",
        "GEMINI | {'functionCall':{'id':'i','name':'f','args':null}}"
      })
  void missingArgumentsMeanNoArguments(Format format, String body) {
    assertEquals(
        Optional.of(List.of(new FunctionCall("i", "f", JsonSlice.EMPTY_OBJECT))),
        format.calls(JsonSlice.of(body.replace('\'', '"'))));
  }
}
