package dev.mcpbridge.adapter.openapi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.DocumentSource;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerUrlsTest {
  private static final DocumentSource INLINE = new DocumentSource.Inline("");
  private static final DocumentSource FROM_API =
      new DocumentSource.Url(URI.create("https://api.example/docs/openapi.json"));

  private static Api read(
      DocumentSource from, String server, List<URI> confirmed, String path, String operation) {
    return read(from, "https://api.example/v1", server, confirmed, path, operation);
  }

  private static Api read(
      DocumentSource from,
      String declared,
      String server,
      List<URI> confirmed,
      String path,
      String operation) {
    String document =
        "{'openapi':'3.1.0','servers':[{'url':'"
            + declared
            + "'}],'paths':{'/x':{'servers':"
            + path
            + ",'get':{'operationId':'get','servers':"
            + operation
            + "}}}}";
    return Apis.read(
        from,
        server == null ? null : URI.create(server),
        confirmed,
        document.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  private static String serverUrl(Api api) {
    return api.tools().get("get").operation().server().toString();
  }

  @Test
  void operationServersOverridePathServers() {
    String near = "[{'url':'https://api.example/v3'}]";
    String far = "[{'url':'https://api.example/v2'}]";

    assertEquals("https://api.example/v3", serverUrl(read(INLINE, null, List.of(), far, near)));
    assertEquals("https://api.example/v2", serverUrl(read(INLINE, null, List.of(), far, "[]")));
    assertEquals("https://api.example/v1", serverUrl(read(INLINE, null, List.of(), "[]", "[]")));
  }

  @Test
  void serverVariablesUseTheirDefaults() {
    String own = "[{'url':'https://api.example/{v}','variables':{'v':{'default':'beta'}}}]";

    assertEquals("https://api.example/beta", serverUrl(read(INLINE, null, List.of(), "[]", own)));
  }

  @Test
  void relativeServerIsResolvedAgainstTheDocumentOrTheApi() {
    String own = "[{'url':'../v2'}]";

    assertEquals("https://api.example/v2", serverUrl(read(FROM_API, null, List.of(), "[]", own)));
    assertEquals(
        "https://api.example/v2",
        serverUrl(read(INLINE, null, List.of(), "[]", "[{'url':'/v2'}]")));
  }

  @Test
  void serverOnTheApiOriginMovesToTheConfiguredOrigin() {
    String own = "[{'url':'https://api.example/v2'}]";

    assertEquals(
        "http://127.0.0.1:4010/v2",
        serverUrl(read(FROM_API, "http://127.0.0.1:4010/v1", List.of(), "[]", own)));
  }

  @ParameterizedTest
  @CsvSource({
    "https://api.example,http://localhost/api,https://api.example,http://localhost/api",
    "https://api.example/,http://localhost/api/,https://api.example/,http://localhost/api",
    "https://api.example,http://localhost/api,https://api.example/v2,http://localhost/api/v2",
    "https://api.example/v1,http://localhost/api,https://api.example/v1,http://localhost/api",
    "https://api.example/v1,http://localhost/api,https://api.example/v1/a,http://localhost/api/a",
    "https://api.example/v1,http://localhost/api,https://api.example/v10,http://localhost/api/v10",
    "https://api.example/v1,http://localhost/p/v1,https://api.example/v2,http://localhost/p/v2",
    "https://api.example/a/v1,http://localhost/v1,https://api.example/a/v2,http://localhost/v2",
    "https://api.example,http://localhost,https://api.example/v2,http://localhost/v2",
    "/v1,http://localhost/api/v1,/v2,http://localhost/api/v2"
  })
  void movedServerKeepsTheConfiguredBasePath(
      String declared, String server, String own, String expected) {
    assertEquals(
        expected,
        serverUrl(read(INLINE, declared, server, List.of(), "[{'url':'" + own + "'}]", "[]")));
  }

  @ParameterizedTest
  @CsvSource({
    "https://uploads.example/v1",
    "http://api.example/v1",
    "https://api.example:8443/v1",
    "https://api.example.evil.example/v1",
    "//uploads.example/v1"
  })
  void anotherOriginIsUsedOnlyIfConfigured(String url) {
    String own = "[{'url':'" + url + "'}]";

    Api unconfirmed = read(INLINE, null, List.of(), "[]", own);
    assertFalse(unconfirmed.tools().containsKey("get"));
    assertTrue(
        unconfirmed.reductions().toString().contains("confirm it with 'servers'"),
        "the omission is not reported");

    URI allowed = URI.create("https://api.example/").resolve(url);
    assertEquals(allowed.toString(), serverUrl(read(INLINE, null, List.of(allowed), "[]", own)));
  }

  @Test
  void firstPermittedServerIsUsed() {
    String own = "[{'url':'https://elsewhere.example'},{'url':'https://api.example/v2'}]";

    assertEquals("https://api.example/v2", serverUrl(read(INLINE, null, List.of(), "[]", own)));
  }

  @ParameterizedTest
  @CsvSource({
    "https://u:p@api.example/v1",
    "ftp://api.example/v1",
    "https://api.example/a/../../b",
    "mailto:x@api.example",
    "{scheme}://api.example"
  })
  void invalidServerUrlIsRejected(String url) {
    List<URI> confirmed = List.of(URI.create("ftp://api.example/"));

    Api api = read(INLINE, null, confirmed, "[]", "[{'url':'" + url + "'}]");

    assertFalse(api.tools().containsKey("get"), api.tools().toString());
  }
}
