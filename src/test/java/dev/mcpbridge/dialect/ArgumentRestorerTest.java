package dev.mcpbridge.dialect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.RawJson;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArgumentRestorerTest {
  private static final JsonNode SCHEMA =
      RawJson.tree(
          """
          {'properties':{
            'text':{'type':'string'},
            'needed':{'type':'string'},
            'open':{'type':['string','null']},
            'either':{'anyOf':[{'type':'integer'},{'type':'null'}]},
            'one':{'enum':['a',null]},
            'any':{},
            'map':{'type':'object','additionalProperties':true},
            'list':{'type':'array','items':{'type':'object'}},
            'number':{'type':'number'},
            'words':{'anyOf':[{'type':'string'},{'type':'object'}]},
            'inner':{'anyOf':[{'$ref':'#/$defs/inner'},{'type':'null'}]},
            'odd':{'type':[7,null]},
            'all':{'allOf':[{'$ref':'#/$defs/inner'}]}},
          'required':['needed'],
          '$defs':{'inner':{'type':'object','properties':{
            'x':{'type':'integer'},'next':{'$ref':'#/$defs/inner'}}}}}
          """);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'text':null} | {}",
        "{'text':null,'unknown':null} | {'unknown':null}",
        "{'map':null,'list':null} | {}",
        "{'inner':{'x':null}} | {'inner':{}}",
        "{'inner':{'next':{'x':null,'next':null}}} | {'inner':{'next':{}}}",
        "{'all':{'x':null}} | {'all':{}}"
      })
  void removesNullFromOptionalProperties(String given, String expected) {
    assertEquals(RawJson.tree(expected), ArgumentRestorer.restore(RawJson.tree(given), SCHEMA));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'needed':null}",
        "{'open':null}",
        "{'either':null}",
        "{'one':null}",
        "{'any':null}",
        "{'inner':null}",
        "{'text':'5','open':'null','any':'{}','words':'{}','one':'a'}",
        "{'either':'','inner':' ','number':''}",
        "{'list':[null]}",
        "{'odd':'null'}",
        "{'map':'no JSON','list':'{','number':'1 2'}",
        "{'number':'\\\"5\\\"'}",
        "{}"
      })
  void keepsValidAndUnparsableValues(String text) {
    // Given
    JsonNode given = RawJson.tree(text);

    // When
    JsonNode restored = ArgumentRestorer.restore(given, SCHEMA);

    // Then
    assertSame(given, restored);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'map':'{\\\"a\\\":[1]}'} | {'map':{'a':[1]}}",
        "{'list':'[{}]'} | {'list':[{}]}",
        "{'list':['{\\\"a\\\":1}',{}]} | {'list':[{'a':1},{}]}",
        "{'number':'1.10'} | {'number':1.10}",
        "{'either':'null'} | {'either':null}",
        "{'all':'{\\\"x\\\":null}'} | {'all':{}}"
      })
  void parsesJsonTextWhereNoStringIsAllowed(String given, String expected) {
    assertEquals(RawJson.tree(expected), ArgumentRestorer.restore(RawJson.tree(given), SCHEMA));
  }

  @Test
  void recursiveSchemasTerminate() {
    // Given
    JsonNode schema =
        RawJson.tree(
            "{'properties':{'a':{'$ref':'#/$defs/a'}},'$defs':{'a':{'anyOf':["
                + "{'$ref':'#/$defs/a'},{'$ref':'#/$defs/a'},{'type':'integer'}]}}}");

    // Then
    assertEquals(RawJson.tree("{}"), ArgumentRestorer.restore(RawJson.tree("{'a':null}"), schema));
    assertEquals(
        RawJson.tree("{'a':5}"), ArgumentRestorer.restore(RawJson.tree("{'a':'5'}"), schema));
  }
}
