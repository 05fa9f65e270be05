package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.cli.registry.Registry;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.fixture.LocalServer;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.io.BufferedWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands search and add, with a registry of this test at a URL and in a file. */
@Tag("program")
class RegistryIT {
  private static final String ECHO =
      "{\"server\":{\"name\":\"io.example/echo\",\"description\":\"Echoes \\u001b[31mtexts.\","
          + "\"version\":\"1.2.0\",\"packages\":[{\"registryType\":\"npm\","
          + "\"identifier\":\"@example/echo\",\"version\":\"1.2.0\","
          + "\"transport\":{\"type\":\"stdio\"},"
          + "\"packageArguments\":[{\"type\":\"positional\",\"valueHint\":\"folder\","
          + "\"isRequired\":true}]}]},"
          + "\"_meta\":{\"io.modelcontextprotocol.registry/official\":{\"status\":\"active\"}}}";

  @TempDir Path folder;
  private Vertx vertx;
  private URI registry;
  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
  private String answer = ECHO;
  private int status = 200;

  @BeforeEach
  void start() throws Exception {
    vertx = Vertx.vertx();
    registry = LocalServer.listen(vertx, this::answer);
  }

  @AfterEach
  void stop() throws Exception {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  private void answer(HttpServerRequest request) {
    requests.add(request.uri());
    String body =
        request.path().equals("/v0.1/servers")
            ? "{\"servers\":[" + answer + "],\"metadata\":{\"count\":1}}"
            : answer;
    request.response().setStatusCode(status).end(body);
  }

  private Path config() {
    return folder.resolve("bridge.json");
  }

  private String add(int expected, String input, String... more) throws Exception {
    List<String> command =
        new ArrayList<>(
            PackagedProgram.command(
                "add", "--registry", registry.toString(), "--config", config().toString()));
    Collections.addAll(command, more);
    Process program = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedWriter in = program.outputWriter()) {
      in.write(input);
    }
    String out = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(expected, program.waitFor(), out);
    return out;
  }

  private JsonNode written() throws Exception {
    return Json.exactTree(Files.readString(config()));
  }

  @Test
  void serversAreFoundByTheirNames() throws Exception {
    String found =
        PackagedProgram.output(0, "search", "--registry", registry.toString(), "echo & more");

    assertTrue(found.contains("io.example/echo 1.2.0 [npm]"), found);
    assertFalse(found.contains("\u001b"), found);
    assertEquals(
        List.of("/v0.1/servers?version=latest&limit=20&search=echo%20%26%20more"), requests);
  }

  @Test
  void anAddedServerRunsAsItWasShown() throws Exception {
    Files.writeString(
        config(),
        "{\"drain\": 1.0, \"mcpServers\": {\"other\": {\"url\": \"https://o.example\"}}}");
    Path program = folder.resolve("npx");
    Files.writeString(
        program,
        "#!/bin/sh\necho \"$@\" > '"
            + folder.resolve("ran")
            + "'\nexec '"
            + TestBridge.java()
            + "' '"
            + String.join("' '", TestBridge.javaArgs())
            + "'\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));

    String shown = add(0, "y\n", "io.example/echo", "--set", "folder=/srv");

    assertTrue(shown.contains("\"args\":[\"-y\",\"@example/echo@1.2.0\",\"/srv\"]"), shown);
    assertFalse(shown.contains("\u001b"), shown);
    assertEquals("1.0", written().path("drain").toString());
    assertEquals("https://o.example", written().at("/mcpServers/other/url").asText());
    String answer = call("echo");
    assertTrue(answer.contains("\"structuredContent\":{\"m\":\"x\"}"), answer);
    assertEquals("-y @example/echo@1.2.0 /srv", Files.readString(folder.resolve("ran")).strip());
    assertTrue(add(0, "", "io.example/echo", "--set", "folder=/srv").contains("already"));
  }

  /** Calls a tool of the written configuration over stdin, with the folder on the PATH. */
  private String call(String name) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            PackagedProgram.command("stdio", "--config", config().toString(), "--server", name));
    builder.environment().merge("PATH", folder.toString(), (path, own) -> own + ":" + path);
    Process relay = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedWriter in = relay.outputWriter()) {
      in.write(
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
              + "\"arguments\":{\"m\":\"x\"},\"_meta\":{"
              + "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
              + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n");
      in.flush();
      return relay.inputReader().readLine();
    } finally {
      relay.waitFor(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void nothingIsWrittenWithoutAYes() throws Exception {
    String refused = add(1, "n\n", "io.example/echo@1.2.0", "--set", "folder=/srv");

    assertTrue(refused.contains("Nothing was changed."), refused);
    assertFalse(Files.exists(config()));
    assertEquals(List.of("/v0.1/servers/io.example%2Fecho/versions/1.2.0"), requests);
  }

  @Test
  void anotherEntryIsReplacedOnlyOnRequest() throws Exception {
    String before = "{\"mcpServers\":{\"echo\":{\"command\":\"true\"}}}";
    Files.writeString(config(), before);

    String refused = add(1, "y\n", "io.example/echo", "--set", "folder=/srv");

    assertTrue(refused.contains("another entry 'echo'"), refused);
    assertEquals(before, Files.readString(config()));
    add(0, "", "io.example/echo", "--set", "folder=/srv", "--replace", "--yes");
    assertEquals("npx", written().at("/mcpServers/echo/command").asText());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "404; {}; has no server",
        "500; {}; answered 500",
        "200; []; not in the format",
        "200; <html>; not in the format",
        "200; {\"name\":\"io.example/other\",\"version\":\"1\"}; answered with another server",
        "302; {}; answered 302"
      })
  void aWrongAnswerOfTheRegistryIsReported(int code, String body, String why) throws Exception {
    status = code;
    answer = body;

    String refused = add(1, "", "io.example/echo", "--yes");

    assertTrue(refused.contains(why), refused);
    assertFalse(Files.exists(config()));
  }

  @Test
  void aRegistryMayBeAFile() throws Exception {
    Path file = folder.resolve("servers.json");
    Files.writeString(file, "{\"servers\":[" + ECHO + "]}");

    String found = PackagedProgram.output(0, "search", "-r", file.toString(), "ECHO");
    String none = PackagedProgram.output(1, "search", "-r", file.toString(), "nothing");
    String added =
        PackagedProgram.output(
            0,
            "add",
            "-r",
            file.toString(),
            "-c",
            config().toString(),
            "-y",
            "-s",
            "folder=/x",
            "--name",
            "mine",
            "io.example/echo");

    assertTrue(found.contains("io.example/echo 1.2.0"), found);
    assertTrue(none.contains("Nothing was found"), none);
    assertTrue(added.contains("Written"), added);
    assertEquals("npx", written().at("/mcpServers/mine/command").asText());
  }

  @Test
  void aRegistryMustBeNamedAndSafe() throws Exception {
    String unnamed = PackagedProgram.output(2, "search", "x");
    String unsafe = PackagedProgram.output(1, "search", "-r", "http://registry.invalid", "x");

    assertTrue(unnamed.contains("MCP_BRIDGE_REGISTRY"), unnamed);
    assertTrue(unsafe.contains("https"), unsafe);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{\"servers\": ["})
  void aRegistryThatNeverEndsItsAnswerIsNotWaitedForLonger(String beginning) throws Exception {
    URI silent =
        LocalServer.listen(
            vertx,
            request -> {
              if (!beginning.isEmpty()) {
                request.response().setChunked(true).write(beginning);
              }
            });
    Registry found = Registry.at(silent.toString(), Duration.ofMillis(1_500));

    BridgeException failure = assertThrows(BridgeException.class, () -> found.search("x", 1));

    assertTrue(failure.getMessage().contains("did not answer within 1500 ms"));
  }
}
