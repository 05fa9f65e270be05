package dev.mcpbridge.it.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.Program;
import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reflection example of grpc-go; what it offers, as grpcurl sees it and as the bridge does. */
@Tag("grpc")
@Tag("program")
class GoGrpcIT {
  private static Process server;
  private static String address;
  private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    server =
        new ProcessBuilder(Requirements.goProgram("server").toString(), "-port=0")
            .redirectErrorStream(true)
            .start();
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    address = "127.0.0.1:" + line.substring(line.lastIndexOf(':') + 1);
    bridge = TestBridge.serving("{'type':'grpc','url':'grpc://" + address + "'}").awaitReady("s");
  }

  @AfterAll
  static void stop() throws Exception {
    if (server != null) {
      server.destroy();
    }
    if (bridge != null) {
      bridge.close();
    }
  }

  private static String grpcurl(String... args) throws Exception {
    List<String> command =
        new ArrayList<>(List.of(Requirements.goProgram("grpcurl").toString(), "-plaintext"));
    command.addAll(List.of(args));
    return Program.output(0, command);
  }

  @Test
  void everyMethodThatGrpcurlListsIsATool() throws Exception {
    Set<String> methods = new TreeSet<>();
    for (String service : grpcurl(address, "list").lines().toList()) {
      if (!service.startsWith("grpc.reflection.")) {
        for (String method : grpcurl(address, "list", service).lines().toList()) {
          String[] names = method.split("\\.");
          methods.add(names[names.length - 2] + "_" + names[names.length - 1]);
        }
      }
    }
    Set<String> tools = new TreeSet<>();
    bridge
        .get("/servers/s/tools")
        .body()
        .path("tools")
        .forEach(tool -> tools.add(tool.path("name").asText()));

    assertTrue(methods.contains("Greeter_SayHello"), methods.toString());
    assertEquals(methods, tools);
  }

  @ParameterizedTest
  @CsvSource({
    "helloworld.Greeter/SayHello, Greeter_SayHello, '{\"name\":\"Ada \\u2603\"}'",
    "grpc.examples.echo.Echo/UnaryEcho, Echo_UnaryEcho, '{\"message\":\"twice \\\"\"}'",
    "grpc.examples.echo.Echo/UnaryEcho, Echo_UnaryEcho, '{}'"
  })
  void resultsAreThoseOfGrpcurl(String method, String tool, String arguments) throws Exception {
    JsonNode expected =
        Json.mapper().readTree(grpcurl("-emit-defaults", "-d", arguments, address, method));

    Answer result = bridge.call(tool, arguments);

    assertEquals(200, result.status(), result.toString());
    assertEquals(expected, result.body().path("structuredContent"));
  }

  @Test
  void methodThatTheServerLacksFails() throws Exception {
    Answer result = bridge.call("Echo_ServerStreamingEcho", "{\"message\":\"a\"}");

    assertEquals("upstream_error", result.code(), result.toString());
    assertTrue(result.at("/detail").contains("UNIMPLEMENTED: method"), result.toString());
  }
}
