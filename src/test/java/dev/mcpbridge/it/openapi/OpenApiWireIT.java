package dev.mcpbridge.it.openapi;

import static dev.mcpbridge.fixture.ApiDocument.parameter;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.EchoApi.Request;
import dev.mcpbridge.fixture.ParameterStyle;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Arguments as they arrive at an API, byte for byte. */
@Tag("openapi")
class OpenApiWireIT {
  private static final String BINARY = "{'type':'string','format':'binary'}";

  @AutoClose private static EchoApi api;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    ApiDocument document = ApiDocument.create();
    for (ParameterStyle style : (Iterable<ParameterStyle>) styles()::iterator) {
      String path = style.in().equals("path") ? style.path() + "/{color}/end" : style.path();
      String more =
          style.style().equals("json")
              ? "'content':{'application/json':{'schema':{}}}"
              : "'style':'" + style.style() + "','explode':" + style.explode() + ",'schema':{}";
      document.with(
          "get", path, style.id(), "'parameters':[" + parameter("color", style.in(), more) + "]");
    }
    addAttackTargets(document);
    api = EchoApi.start().on("/openapi.json", document.asScript());
    bridge = TestBridge.serving("{'type':'openapi','url':'" + api.url("/openapi.json") + "'}");
  }

  private static void addAttackTargets(ApiDocument document) {
    document
        .with("get", "/seg/{p}/end", "segment", "'parameters':[" + parameter("p", "path", "") + "]")
        .with("get", "/seg/{p}", "last", "'parameters':[" + parameter("p", "path", "") + "]")
        .with(
            "get",
            "/all",
            "everywhere",
            "'parameters':[%s,%s,%s,%s]"
                .formatted(
                    parameter("h", "header", ""),
                    parameter("c", "cookie", ""),
                    parameter("q", "query", ""),
                    parameter("free", "query", "'schema':{},'allowReserved':true")))
        .with(
            "get",
            "/same/{id}",
            "same",
            "'parameters':[%s,%s]"
                .formatted(parameter("id", "path", ""), parameter("id", "query", "")))
        .with(
            "get",
            "/odd",
            "odd",
            "'parameters':["
                + parameter("filter[name]", "query", "")
                + ","
                + parameter("$select", "query", "")
                + "]")
        .with(
            "get",
            "/fixed",
            "fixed",
            "'parameters':[%s,%s]"
                .formatted(
                    String.join(
                        ",",
                        Stream.of(
                                "Host",
                                "Content-Length",
                                "Transfer-Encoding",
                                "Cookie",
                                "Mcp-Method",
                                "Connection",
                                "X\\r\\nInjected",
                                "X Y")
                            .map(name -> parameter(name, "header", ""))
                            .toList()),
                    parameter("X-Fine", "header", "")));
  }

  static Stream<ParameterStyle> styles() {
    return ParameterStyle.all();
  }

  @ParameterizedTest
  @MethodSource("styles")
  void parameterIsSerialisedInItsStyle(ParameterStyle style) throws Exception {
    Answer answer = bridge.call(style.id(), "{\"color\":" + style.value() + "}");

    assertEquals(200, answer.status(), answer.text());
    Request seen = api.lastRequest();
    switch (style.in()) {
      case "path" ->
          assertEquals("GET " + style.path() + "/" + style.wire() + "/end HTTP/1.1", seen.line());
      case "query" ->
          assertEquals("GET " + style.path() + "?" + style.wire() + " HTTP/1.1", seen.line());
      default -> {
        String header = style.in().equals("header") ? "color" : "cookie";
        assertEquals(List.of(style.wire()), seen.headers(header));
        assertEquals("GET " + style.path() + " HTTP/1.1", seen.line());
      }
    }
  }

  @Test
  void unusualAndDuplicateParameterNamesAreMapped() throws Exception {
    JsonNode properties = properties("odd");
    List<String> keys = properties.propertyStream().map(each -> each.getKey()).toList();
    assertEquals(2, keys.size());
    keys.forEach(key -> assertTrue(key.matches("[A-Za-z0-9_.-]{1,64}"), key));

    bridge.call("odd", "{\"" + keys.get(0) + "\":\"x\",\"" + keys.get(1) + "\":\"y\"}");
    assertEquals("filter%5Bname%5D=x&%24select=y", api.lastRequest().query());

    keys = properties("same").propertyStream().map(each -> each.getKey()).toList();
    bridge.call("same", "{\"" + keys.get(0) + "\":\"x\",\"" + keys.get(1) + "\":\"y\"}");
    assertEquals("GET /same/x?id=y HTTP/1.1", api.lastRequest().line());
  }

  @Test
  void reservedCharactersNeverEndTheParameter() throws Exception {
    bridge.call("everywhere", "{\"free\":\"a/b?c&d=e#f+g%\"}");

    assertEquals("free=a/b?c%26d%3De%23f%2Bg%25", api.lastRequest().query());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../../admin",
        "..%2fadmin",
        "%2e%2e/",
        "%2e%2e",
        "%2E.",
        "a/b",
        "a?x=1",
        "a#f",
        "a;b",
        "a\\u0000b",
        "..\\\\",
        "\\\\..\\\\admin",
        ".",
        "..",
        "",
        " ",
        "{p}",
        "//x",
        "@x",
        ":80",
        "a\\nb",
        "a\\r\\nX: 1",
        "\\u2025",
        "\\uFF0E\\uFF0E\\uFF0F",
        "*",
        "~"
      })
  void pathValueStaysInItsSegmentOrIsRejected(String value) throws Exception {
    for (String tool : List.of("segment", "last")) {
      int before = api.requests().size();

      Answer answer = bridge.call(tool, "{\"p\":\"" + value + "\"}");

      if (answer.status() == 422) {
        assertEquals(before, api.requests().size());
        continue;
      }
      assertEquals(200, answer.status(), answer.text());
      assertEquals(before + 1, api.requests().size());
      String path = api.lastRequest().path();
      assertEquals("", api.lastRequest().query());
      String[] segments = path.split("/", -1);
      assertEquals(tool.equals("segment") ? 4 : 3, segments.length, path);
      assertEquals("seg", segments[1]);
      assertFalse(segments[2].matches("\\.{0,2}"), path);
      assertTrue(segments[2].matches("([A-Za-z0-9._~-]|%[0-9A-F]{2})+"), path);
      String plain = unescaped(value);
      assertEquals(plain, URLDecoder.decode(segments[2], StandardCharsets.UTF_8));
    }
  }

  private static String unescaped(String escaped) throws Exception {
    return dev.mcpbridge.protocol.Json.mapper().readTree("\"" + escaped + "\"").asText();
  }

  @ParameterizedTest
  @CsvSource({
    "h,a\\r\\nX-Injected: 1",
    "h,a\\nb",
    "h,a\\u0000b",
    "h,ü",
    "c,a\\r\\nX-Injected: 1",
    "q,a\\r\\nX-Injected: 1",
    "q,a\\u0000b",
    "free,a\\r\\n\\r\\nGET / HTTP/1.1",
    "h,a\\u007Fb"
  })
  void lineBreakIsRejectedAndNothingIsSent(String parameter, String value) throws Exception {
    int before = api.requests().size();

    Answer answer = bridge.call("everywhere", "{\"" + parameter + "\":\"" + value + "\"}");

    assertEquals(422, answer.status(), answer.text());
    assertEquals("no", answer.at("/executed"));
    assertEquals(before, api.requests().size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"h", "c", "q", "free"})
  void lineBreakInAListOrANameIsNeverSent(String parameter) throws Exception {
    for (String value :
        List.of("[\"a\",\"b\\r\\nX-Injected: 1\"]", "{\"k\\r\\nX-Injected: 1\":1}")) {
      int before = api.requests().size();

      Answer answer = bridge.call("everywhere", "{\"" + parameter + "\":" + value + "}");

      if (answer.status() == 422) {
        assertEquals(before, api.requests().size());
      } else {
        assertEquals(200, answer.status(), answer.text());
        assertNull(api.lastRequest().header("X-Injected"));
      }
    }
  }

  @Test
  void routingHeadersCannotBeSet() throws Exception {
    List<String> keys = properties("fixed").propertyStream().map(each -> each.getKey()).toList();
    assertEquals(List.of("X-Fine"), keys);

    for (String name : List.of("Host", "host", "Content-Length", "Cookie", "Mcp-Method")) {
      int before = api.requests().size();
      assertEquals(422, bridge.call("fixed", "{\"" + name + "\":\"1\"}").status());
      assertEquals(before, api.requests().size());
    }
    assertEquals(200, bridge.call("fixed", "{\"X-Fine\":\"1\"}").status());
    assertEquals("127.0.0.1:" + api.port(), api.lastRequest().header("host"));
  }

  private static JsonNode properties(String tool) throws Exception {
    return bridge
        .get("/servers/s/tools")
        .body()
        .path("tools")
        .valueStream()
        .filter(each -> each.path("name").asText().equals(tool))
        .findFirst()
        .orElseThrow()
        .at("/inputSchema/properties");
  }
}
