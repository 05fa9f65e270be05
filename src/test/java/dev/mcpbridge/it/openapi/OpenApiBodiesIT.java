package dev.mcpbridge.it.openapi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.ApiDocument;
import dev.mcpbridge.fixture.EchoApi;
import dev.mcpbridge.fixture.EchoApi.Request;
import dev.mcpbridge.fixture.TestBridge;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Request bodies as they arrive at an API, byte for byte. */
@Tag("openapi")
class OpenApiBodiesIT {
  private static final String BINARY = "{'type':'string','format':'binary'}";

  @AutoClose private static EchoApi api;
  @AutoClose private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    ApiDocument document = ApiDocument.create();
    bodies(document);
    api = EchoApi.start().on("/openapi.json", document.asScript());
    bridge = TestBridge.serving("{'type':'openapi','url':'" + api.url("/openapi.json") + "'}");
  }

  private static void bodies(ApiDocument document) {
    document
        .withPost("/json", "json", "application/json", "{}", "")
        .withPost("/text", "text", "text/plain", "{'type':'string'}", "")
        .withPost("/bytes", "bytes", "application/octet-stream", BINARY, "")
        .withPost("/form", "form", "application/x-www-form-urlencoded", "{'type':'object'}", "")
        .withPost(
            "/deep",
            "deep",
            "application/x-www-form-urlencoded",
            "{'type':'object'}",
            "'encoding':{'filter':{'style':'deepObject','explode':true},"
                + "'tags':{'style':'pipeDelimited','explode':false},"
                + "'words':{'style':'spaceDelimited','explode':false}}")
        .withPost(
            "/multipart",
            "multipart",
            "multipart/form-data",
            "{'type':'object','properties':{'file':"
                + BINARY
                + ",'note':{'type':'string'},'meta':{'type':'object'}}}",
            "'encoding':{'file':{'contentType':'image/png'},'line':{'contentType':'text/csv'}}");
  }

  @Test
  void jsonBodyIsSentByteForByte() throws Exception {
    String body = "{\"big\":12345678901234567890,\"d\":1.10,\"e\":1E2,\"s\":\"\\u00e9\\/ü\"}";

    bridge.call("json", "{\"body\":" + body + "}");

    assertArrayEquals(body.getBytes(StandardCharsets.UTF_8), api.lastRequest().body());
    assertEquals("application/json", api.lastRequest().header("content-type"));
    for (String other : List.of("null", "[]", "\"x\"", "1.10")) {
      bridge.call("json", "{\"body\":" + other + "}");
      assertEquals(other, api.lastRequest().text());
    }
  }

  @Test
  void formBodyIsUrlEncoded() throws Exception {
    bridge.call("form", "{\"body\":{\"a\":\"x y&z=ü\",\"n\":1.10,\"l\":[1,2]}}");

    assertEquals("a=x+y%26z%3D%C3%BC&n=1.10&l=1&l=2", api.lastRequest().text());
    assertTrue(
        api.lastRequest().header("content-type").startsWith("application/x-www-form-urlencoded"));
  }

  @Test
  void formFieldsFollowTheirEncoding() throws Exception {
    bridge.call(
        "deep", "{\"body\":{\"filter\":{\"a\":{\"b\":1}},\"tags\":[\"x\",\"y\"],\"words\":[1,2]}}");

    assertEquals(
        "filter[a][b]=1&tags=x|y&words=1 2",
        URLDecoder.decode(api.lastRequest().text(), StandardCharsets.UTF_8));
  }

  @Test
  void filesAndFieldsBecomeParts() throws Exception {
    bridge.call(
        "multipart", "{\"body\":{\"file\":\"AAEC/w==\",\"note\":\"ü\",\"meta\":{\"n\":1.10}}}");

    Request seen = api.lastRequest();
    assertTrue(seen.header("content-type").startsWith("multipart/form-data; boundary="));
    String body = new String(seen.body(), StandardCharsets.ISO_8859_1);
    assertTrue(body.contains("\r\n\r\n\0\1\2\u00ff\r\n"), body);
    assertTrue(body.contains("content-type: image/png"), body);
    assertTrue(body.contains("\r\n\r\n\u00c3\u00bc\r\n"), body);
    assertTrue(body.contains("\r\n\r\n{\"n\":1.10}\r\n"), body);
  }

  @Test
  void everyPartHasItsContentType() throws Exception {
    bridge.call(
        "multipart",
        "{\"body\":{\"meta\":{\"n\":[]},\"line\":\"a;b\",\"n\":1.10,\"many\":[{\"a\":1},\"x\"],"
            + "\"a\\\"b\\r\\nc\":true}}");

    Request seen = api.lastRequest();
    String boundary = seen.header("content-type").split("boundary=")[1];
    List<String> parts =
        Stream.of(seen.text().split("--" + boundary)).map(String::strip).skip(1).toList();
    assertEquals(
        List.of(
            part("meta", "application/json", "{\"n\":[]}"),
            part("line", "text/csv", "a;b"),
            part("n", "text/plain; charset=utf-8", "1.10"),
            part("many", "application/json", "{\"a\":1}"),
            part("many", "text/plain; charset=utf-8", "x"),
            part("a%22b%0D%0Ac", "text/plain; charset=utf-8", "true"),
            "--"),
        parts);
    assertEquals(
        String.valueOf(seen.body().length), seen.header("content-length"), "the content length");
  }

  private static String part(String name, String type, String body) {
    return "content-disposition: form-data; name=\"%s\"\r\ncontent-type: %s\r\n\r\n%s"
        .formatted(name, type, body);
  }

  @Test
  void formObjectIsJsonUnlessAStyleIsDeclared() throws Exception {
    bridge.call("form", "{\"body\":{\"o\":{\"a\":1.10,\"b\":[1]},\"l\":[{\"x\":1},2]}}");

    assertEquals(
        "o={\"a\":1.10,\"b\":[1]}&l={\"x\":1}&l=2",
        URLDecoder.decode(api.lastRequest().text(), StandardCharsets.UTF_8));
  }

  @Test
  void textAndBinaryBodiesAreSentUnchanged() throws Exception {
    bridge.call("text", "{\"body\":\"a\\r\\nü\"}");
    assertEquals("a\r\nü", api.lastRequest().text());
    assertEquals("text/plain", api.lastRequest().header("content-type"));

    bridge.call("bytes", "{\"body\":\"AAEC/w==\"}");
    assertArrayEquals(new byte[] {0, 1, 2, (byte) 0xFF}, api.lastRequest().body());
    assertEquals(422, bridge.call("bytes", "{\"body\":\"=\"}").status());
  }
}
