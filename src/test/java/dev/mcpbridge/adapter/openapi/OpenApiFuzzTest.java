package dev.mcpbridge.adapter.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonObjects;
import io.vertx.core.buffer.Buffer;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** Documents of HTTP APIs, and the requests that are made of arguments. */
class OpenApiFuzzTest {
  private static final URI SERVER = URI.create("http://127.0.0.1:1/base/");

  @FuzzTest(maxDuration = "1000h")
  void documentIsReadOrRefused(byte[] document) {
    Api api;
    try {
      api = Apis.read(SERVER, document);
    } catch (BridgeException e) {
      assertEquals(ErrorCode.START_FAILED, e.code());
      return;
    }
    api.tools().forEach((name, tool) -> assertTrue(name.matches("[A-Za-z0-9_-]{1,64}"), name));
  }

  @FuzzTest(maxDuration = "1000h")
  void valueStaysInItsPathSegment(FuzzedDataProvider data) {
    boolean isExploded = data.consumeBoolean();
    String style = data.pickValue(new String[] {"simple", "label", "matrix"});
    String text = data.consumeRemainingAsString();
    Parameter parameter =
        new Parameter("id", "id", Parameter.In.PATH, style, isExploded, false, false, true);
    String path;
    try {
      path =
          PathTemplate.expand(
              "/a/{id}/b", List.of(parameter), Map.of("id", JsonObjects.quoted(text)));
    } catch (BridgeException e) {
      assertEquals(ErrorCode.INVALID_ARGUMENTS, e.code());
      return;
    }
    assertTrue(path.startsWith("/a/") && path.endsWith("/b"), path);
    String segment = path.substring(3, path.length() - 2);
    assertFalse(segment.matches(".*[/?#\\s].*") || segment.equals(".."), path);
    assertTrue(path.chars().allMatch(c -> c > 0x20 && c < 0x7F), path);
  }

  @FuzzTest(maxDuration = "1000h")
  void fieldCannotAddAPart(FuzzedDataProvider data) {
    String name = data.consumeString(100);
    Multipart multipart = new Multipart();
    multipart.field(name, "text/plain", data.consumeRemainingAsString());
    multipart.file(name, "text/plain", Buffer.buffer("x"));
    String boundary = multipart.type("multipart/form-data").replaceFirst(".*boundary=", "");
    String body = multipart.done().toString();

    assertEquals(4, body.split("--" + boundary, -1).length, body);
    for (String head : body.split("\r\ncontent-disposition: ", -1)) {
      assertFalse(head.startsWith("form-data; name=\"\r"), body);
    }
    assertEquals(2, body.split("\r\ncontent-type: text/plain\r\n\r\n", -1).length - 1, "two heads");
  }
}
