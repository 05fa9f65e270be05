package dev.mcpbridge.adapter.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.RawJson;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Conversion of OpenAPI 3.0 and Swagger 2.0 documents. */
class ConversionTest {
  private static final String PET =
      "{'type':'object','required':['id','name','secret'],'properties':{"
          + "'id':{'type':'integer','readOnly':true},'name':{'type':'string','nullable':true},"
          + "'secret':{'type':'string','writeOnly':true},"
          + "'kind':{'type':'string','enum':['a','b'],'nullable':true},"
          + "'any':{'nullable':true,'allOf':[{'$ref':'#/components/schemas/Age'}]}}}";

  private static Api of30(String schema) {
    return Apis.at(
        "{'openapi':'3.0.3','info':{'title':'T','version':'1'},'paths':{'/x':{'post':{"
            + "'operationId':'x','requestBody':{'required':true,'content':{'application/json':"
            + "{'schema':{'$ref':'#/components/schemas/S'}}}},'responses':{'200':{'content':"
            + "{'application/json':{'schema':{'$ref':'#/components/schemas/S'}}}}}}}},"
            + "'components':{'schemas':{'Age':{'type':'integer'},'S':"
            + schema
            + "}}}");
  }

  private static JsonNode converted(String schema) {
    JsonNode input = Apis.schema(of30(schema), "x");
    Apis.assertValid(input);
    return input.at("/$defs/S");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'type':'string','nullable':true} | {'type':['string','null']}",
        "{'type':'string','nullable':false} | {'type':'string'}",
        "{'type':'string','enum':['a'],'nullable':true}"
            + "| {'type':['string','null'],'enum':['a',null]}",
        "{'type':'string','enum':['a',null],'nullable':true}"
            + "| {'type':['string','null'],'enum':['a',null]}",
        "{'minimum':1,'exclusiveMinimum':true} | {'exclusiveMinimum':1}",
        "{'minimum':1,'exclusiveMinimum':false} | {'minimum':1}",
        "{'maximum':1.5,'exclusiveMaximum':true} | {'exclusiveMaximum':1.5}",
        "{'exclusiveMaximum':true} | {}",
        "{'nullable':true,'allOf':[{'$ref':'#/components/schemas/Age'}]}"
            + "| {'anyOf':[{'allOf':[{'$ref':'#/$defs/Age'}]},{'type':'null'}]}",
        "{'type':'object','properties':{'nullable':{'type':'string'},'x-a':{'type':'string'}}}"
            + "| {'type':'object','properties':{'nullable':{'type':'string'},"
            + "'x-a':{'type':'string'}}}",
        "{'type':'string','example':'e','xml':{'name':'n'},'x-mine':1,'discriminator':"
            + "{'propertyName':'p'}} | {'type':'string'}"
      })
  void openApi30KeywordsAreConverted(String original, String expected) {
    assertEquals(RawJson.tree(expected).toString(), converted(original).toString());
  }

  @Test
  void readOnlyAndWriteOnlyPropertiesAreNotRequired() {
    Api api = of30(PET);

    JsonNode input = Apis.schema(api, "x").at("/$defs/S/required");
    assertEquals(RawJson.tree("['name','secret']"), input);
    JsonNode output = Apis.definition(api, "x").path("outputSchema");
    assertEquals(RawJson.tree("['id','name']"), output.path("required"));
    Apis.assertValid(output);
  }

  private static Api swagger() {
    return Apis.at(
        "{'swagger':'2.0','info':{'title':'Old','version':'7'},'basePath':'/v2',"
            + "'consumes':['application/json'],'produces':['application/json'],"
            + "'parameters':{'limit':{'name':'limit','in':'query','type':'integer','minimum':0,"
            + "'exclusiveMinimum':true}},"
            + "'responses':{'Pet':{'description':'d','schema':{'$ref':'#/definitions/Pet'}}},"
            + "'definitions':{'Pet':{'type':'object','properties':{'of':{'$ref':"
            + "'#/definitions/Pet'}}}},"
            + "'paths':{'/pets':{'parameters':[{'$ref':'#/parameters/limit'}],"
            + "'get':{'operationId':'list','parameters':["
            + list("csv")
            + ","
            + list("multi")
            + ","
            + list("pipes")
            + ","
            + list("ssv")
            + "],'responses':{'200':{'$ref':'#/responses/Pet'}}},"
            + "'post':{'operationId':'add','parameters':[{'name':'pet','in':'body','required':true,"
            + "'description':'the pet','schema':{'$ref':'#/definitions/Pet'}}]},"
            + "'put':{'operationId':'xml','consumes':['application/xml'],'parameters':["
            + "{'name':'pet','in':'body','schema':{'$ref':'#/definitions/Pet'}}]}},"
            + "'/form':{'post':{'operationId':'form','consumes':"
            + "['application/x-www-form-urlencoded'],'parameters':[{'name':'a','in':'formData',"
            + "'type':'string','required':true},{'name':'n','in':'formData','type':'integer'}]}},"
            + "'/file':{'post':{'operationId':'file','parameters':[{'name':'f','in':'formData',"
            + "'type':'file','required':true},{'name':'note','in':'formData','type':'string'}]}}}}");
  }

  private static String list(String format) {
    return "{'name':'"
        + format
        + "','in':'query','type':'array','items':{'type':'string'},'collectionFormat':'"
        + format
        + "'}";
  }

  @Test
  void swaggerToolsHaveValidSchemas() {
    Api api = swagger();

    assertEquals("Old", api.title());
    assertEquals(List.of("list", "add", "xml", "form", "file"), presentTools(api));
    api.tools().keySet().forEach(tool -> Apis.assertValid(Apis.schema(api, tool)));
    assertEquals("/pets", api.tools().get("list").operation().path());
  }

  @Test
  void pathItemsMayBeReferences() {
    Api api =
        Apis.at(
            "{'swagger':'2.0','info':{'title':'Old','version':'1'},'host':'a.example',"
                + "'paths':{'/x':{'$ref':'#/x-paths/x'},'/y':{'$ref':'#/paths/~1x'},"
                + "'/none':{'$ref':'other.json#/x'}},"
                + "'x-paths':{'x':{'get':{'summary':'seen','responses':{}}}}}");

    assertEquals(List.of("get_x", "get_y"), List.copyOf(api.tools().keySet()));
  }

  private static List<String> presentTools(Api api) {
    List<String> candidates = List.of("list", "add", "xml", "form", "file");
    return candidates.stream().filter(api.tools()::containsKey).toList();
  }

  @Test
  void collectionFormatBecomesAStyle() {
    List<String> styles =
        swagger().tools().get("list").operation().parameters().stream()
            .map(each -> each.name() + " " + each.style() + " " + each.explode())
            .toList();

    assertEquals(
        List.of(
            "limit form false",
            "csv form false",
            "multi form true",
            "pipes pipeDelimited false",
            "ssv spaceDelimited false"),
        styles);
    JsonNode limit = Apis.schema(swagger(), "list").at("/properties/limit");
    assertEquals(RawJson.tree("{'type':'integer','exclusiveMinimum':0}"), limit);
  }

  @Test
  void bodyAndFormParametersBecomeRequestBodies() {
    Api api = swagger();

    JsonNode add = Apis.schema(api, "add");
    assertEquals(RawJson.tree("['body']"), add.path("required"));
    assertEquals("#/$defs/Pet", add.at("/properties/body/$ref").asText());
    assertEquals("the pet", add.at("/properties/body/description").asText());
    assertEquals("application/json", api.tools().get("add").operation().body().type());
    assertEquals("application/xml", api.tools().get("xml").operation().body().type());
    assertTrue(api.tools().get("form").operation().body().isForm());
    assertEquals(RawJson.tree("['a']"), Apis.schema(api, "form").at("/properties/body/required"));
    assertTrue(api.tools().get("file").operation().body().isMultipart());
    assertEquals(
        "binary", Apis.schema(api, "file").at("/properties/body/properties/f/format").asText());
  }

  @Test
  void objectResponseBecomesTheOutputSchema() {
    JsonNode output = Apis.definition(swagger(), "list").path("outputSchema");

    assertEquals("object", output.path("type").asText());
    assertEquals("#/$defs/Pet", output.at("/properties/of/$ref").asText());
    Apis.assertValid(output);
    assertFalse(Apis.definition(swagger(), "add").has("outputSchema"));
  }

  @ParameterizedTest
  @CsvSource({
    "'https','api.example','/v1',https://api.example/v1",
    "'http','api.example:8080','',http://api.example:8080",
    "'','api.example','/v1',https://api.example/v1"
  })
  void serverUrlIsBuiltFromHostAndBasePath(String scheme, String host, String base, String url) {
    Api api =
        Apis.inline(
            ("{'swagger':'2.0','paths':{},'host':'"
                    + host
                    + "','basePath':'"
                    + base
                    + "'"
                    + (scheme.isEmpty() ? "" : ",'schemes':['" + scheme + "']")
                    + "}")
                .replace('\'', '"'));

    assertEquals(url, api.base().toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'type':'file'}",
        "{'type':'int'}",
        "{'type':'any'}",
        "{'type':['string','nothing']}",
        "{'required':true,'type':'string'}",
        "{'required':'a','type':'object'}",
        "{'required':['a','a'],'type':'object'}",
        "{'enum':null}",
        "{'enum':{'a':1}}",
        "{'items':[{'type':'string'}],'type':'array'}",
        "{'properties':{'a':'string'}}",
        "{'properties':[]}",
        "{'minLength':'1'}",
        "{'minLength':-1}",
        "{'maxItems':1.5}",
        "{'pattern':'('}",
        "{'description':1}",
        "{'title':{}}",
        "{'additionalProperties':'x'}",
        "{'allOf':{}}",
        "{'allOf':[]}",
        "{'allOf':['x']}",
        "{'examples':{'a':{'value':1}}}",
        "{'multipleOf':0}",
        "{'$id':'http://other.example/x','properties':{'a':{'$ref':'#/components/schemas/Age'}}}",
        "{'$anchor':'a b'}",
        "{'$schema':'http://json-schema.org/draft-04/schema#'}",
        "{'deprecated':'yes'}",
        "{'format':1}",
        "{'uniqueItems':'true'}",
        "{'dependencies':{'a':['b']}}",
        "{'if':1}",
        "{'not':[]}"
      })
  void invalidSchemaYieldsAValidToolSchema(String schema) {
    converted(schema);
  }
}
