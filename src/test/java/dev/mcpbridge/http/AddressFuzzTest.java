package dev.mcpbridge.http;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.fixture.Stubs;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Host, Origin and path of a request. */
class AddressFuzzTest {
  private static final AddressChecks CHECKS =
      new AddressChecks(
          new ConfigReader(Map.of())
              .read(
                  "{\"http\":{\"hosts\":[\"tools.example\"],\"cors\":{\"origins\":"
                      + "[\"https://app.example\"]}}}",
                  ConfigReader.Strictness.ALL_OR_NOTHING)
              .http());
  private static final List<String> HOSTS =
      List.of("localhost", "127.0.0.1", "[::1]", "::1", "tools.example");

  @FuzzTest(maxDuration = "1000h")
  void acceptedRequestHasAKnownHostAndOriginAndAnUnambiguousPath(FuzzedDataProvider data) {
    String host = data.consumeString(40);
    String origin = data.consumeBoolean() ? data.consumeString(60) : null;
    String path = "/" + data.consumeRemainingAsString();
    MultiMap headers = MultiMap.caseInsensitiveMultiMap().add("host", host);
    if (origin != null) {
      headers.add("origin", origin);
    }
    try {
      CHECKS.check(context(headers, host, path));
    } catch (BridgeException refused) {
      return;
    }
    String name = HostAndPort.parseAuthority(host, -1).host().toLowerCase(Locale.ROOT);
    assertTrue(HOSTS.contains(name), host);
    if (origin != null && !Routes.needsNoCredential(path) && !path.startsWith("/.well-known/")) {
      assertTrue(
          origin.equalsIgnoreCase("http://" + host)
              || origin.equalsIgnoreCase("https://app.example"),
          origin);
    }
    assertFalse(path.contains("//") || path.contains("\\"), path);
    String decoded = URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    assertFalse(List.of(decoded.split("/", -1)).contains(".."), path);
  }

  private static RoutingContext context(MultiMap headers, String host, String path) {
    HttpServerRequest request =
        Stubs.of(
            HttpServerRequest.class,
            (method, arguments) ->
                switch (method) {
                  case "headers" -> headers;
                  case "uri", "path" -> path;
                  case "query" -> null;
                  case "isSSL" -> false;
                  case "version" -> HttpVersion.HTTP_1_1;
                  case "authority" -> HostAndPort.parseAuthority(host, -1);
                  case "getHeader" -> headers.get(arguments[0].toString());
                  default -> throw new AssertionError(method);
                });
    return Stubs.of(
        RoutingContext.class, (method, arguments) -> method.equals("request") ? request : null);
  }
}
