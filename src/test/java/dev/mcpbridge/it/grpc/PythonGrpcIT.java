package dev.mcpbridge.it.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Requirements;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server of another language's library, with the older version of reflection. */
@Tag("grpc")
@Tag("program")
class PythonGrpcIT {
  private static Process server;
  private static TestBridge bridge;

  @BeforeAll
  static void start() throws Exception {
    server =
        new ProcessBuilder(
                Requirements.pythonServer("python").toString(), "src/test/python/grpc_server.py")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    bridge =
        TestBridge.serving("{'type':'grpc','url':'grpc://127.0.0.1:" + out.readLine() + "'}")
            .awaitReady("s");
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

  @Test
  void methodsAreCalledWithTypedArguments() throws Exception {
    Answer placed =
        bridge.call(
            "Orders_Place", "{\"item\":\"tea\",\"count\":\"9007199254740993\",\"cash\":true}");

    assertEquals("tea for cash", placed.at("/structuredContent/text"), placed.toString());
    assertEquals("18014398509481986", placed.at("/structuredContent/total"));
    assertEquals("1970-01-01T00:00:00Z", placed.at("/structuredContent/at"));
  }

  @Test
  void twoMembersOfAOneofAreRefusedBeforeTheCall() throws Exception {
    Answer both = bridge.call("Orders_Place", "{\"card\":\"1\",\"cash\":true}");

    assertEquals(422, both.status(), both.toString());
    assertEquals("no", both.body().path("executed").asText());
  }

  @Test
  void refusalOfTheServerIsAnErrorOfTheTool() throws Exception {
    Answer refused = bridge.call("Orders_Place", "{\"count\":-1}");

    assertTrue(refused.body().path("isError").asBoolean(), refused.toString());
    assertEquals("OUT_OF_RANGE: count is negative", refused.firstText());
  }

  @Test
  void streamIsAList() throws Exception {
    Answer stream = bridge.call("Orders_Follow", "{\"item\":\"tea\",\"count\":3}");

    assertEquals("2", stream.at("/structuredContent/messages/2/total"), stream.toString());
  }
}
