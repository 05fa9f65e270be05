package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.fixture.ClientProgram;
import dev.mcpbridge.fixture.OpenIdProvider;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real issuer, and clients that log in to it by themselves. */
@Tag("access")
class OpenIdProviderIT {
  private static final String OPAQUE = "https://tools.example/opaque";
  private static final String ADMIN = ApiKeys.generate();

  @AutoClose private static OpenIdProvider provider;
  @AutoClose private static TestBridge bridge;
  @TempDir private static Path log;
  @TempDir Path folder;

  @BeforeAll
  static void start() throws Exception {
    provider = new OpenIdProvider(log);
    bridge =
        TestBridge.of(
            ("{'auth':{'keys':[%s],'issuers':[{'name':'corp','issuer':'%s','audiences':['%s'],"
                    + "'introspection':{'clientId':'bridge','clientSecret':'bridge-secret'}}]},"
                    + "'mcpServers':{'s':%s}}")
                .formatted(
                    TestBridge.key("admin", ADMIN, "'read','admin'"),
                    provider.issuer(),
                    OPAQUE,
                    TestBridge.entry("")));
    bridge.until(() -> bridge.get("/servers/s", "x-api-key", ADMIN).at("/state").equals("ready"));
  }

  private static String own(String path) {
    String url = bridge.uri(path).toString();
    return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
  }

  private static Answer as(String token, String path) throws Exception {
    return bridge.get(path, "authorization", "Bearer " + token);
  }

  @Test
  void signedTokenIsAcceptedAtTheResourceThatItWasIssuedFor() throws Exception {
    String token = provider.token(own(""), "mcp:read");

    Answer me = as(token, "/whoami");

    assertEquals("corp|machine", me.at("/principal"), me.toString());
    assertEquals("[\"read\"]", me.body().path("scopes").toString());
    assertEquals(200, as(token, "/servers").status());
    String other = provider.token(own("/servers/s/mcp"), "mcp:read");
    assertEquals(401, as(other, "/servers").status());
  }

  @Test
  void opaqueTokenIsIntrospected() throws Exception {
    String token = provider.token(OPAQUE, "mcp:call");
    assertEquals(1, token.split("\\.").length);

    Answer me = as(token, "/whoami");

    assertEquals("corp||machine", me.at("/principal"), me.toString());
    assertEquals("machine", me.at("/client"));
    assertEquals("[\"read\",\"call\"]", me.body().path("scopes").toString());
    assertEquals(401, as(token + "x", "/whoami").status());
  }

  @ParameterizedTest
  @ValueSource(strings = {"legacy", "auto"})
  void theTypeScriptSdkLogsInAndStepsUpItsScope(String mode) throws Exception {
    check(ClientProgram.node(folder, "login.mjs", bridge.uri("/servers/s/mcp"), mode));
  }

  @Test
  void thePythonSdkLogsInAndStepsUpItsScope() throws Exception {
    check(ClientProgram.python(folder, "login.py", bridge.uri("/servers/s/mcp")));
  }

  private static void check(JsonNode result) {
    assertTrue(result.path("tools").asInt() > 20, result.toString());
    assertEquals("grüße", result.at("/echo/structuredContent/text").asText(), result.toString());
    assertEquals(2, result.path("authorizations").size(), result.toString());
    assertTrue(result.at("/authorizations/0").asText().startsWith("mcp:read mcp:call"));
    assertTrue(result.at("/authorizations/1").asText().contains("mcp:call"), result.toString());
  }
}
