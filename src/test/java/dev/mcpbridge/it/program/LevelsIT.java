package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.BusyboxImage;
import dev.mcpbridge.fixture.Engine;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code conf/levels.json}, served by the packaged program as described in the README. */
@Tag("program")
class LevelsIT {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final String MILK = "{\"text\":\"buy milk\"}";

  private static Engine engine;
  private static BusyboxImage image;

  @TempDir Path folder;
  private ServedBridge bridge;

  @BeforeAll
  static void image() throws Exception {
    engine = Engine.local();
    image = new BusyboxImage(engine);
  }

  @AfterAll
  static void removeImage() throws Exception {
    if (image != null) {
      image.close();
    }
  }

  @BeforeEach
  void serve() throws Exception {
    ProcessBuilder program =
        new ProcessBuilder(ServedBridge.command("--config", "conf/levels.json"));
    program.environment().put("PWD", Path.of("").toAbsolutePath().toString());
    bridge = ServedBridge.from(program.redirectError(folder.resolve("err").toFile()));
  }

  @AfterEach
  void stop() throws Exception {
    bridge.close();
    assertEquals(List.of(), containers());
  }

  @Test
  void harmlessToolsRunAtOnceInTheServersContainer() throws Exception {
    // When
    JsonNode look = call("look", "{}");

    // Then
    assertEquals("nothing", said(look));
    assertFalse(look.has("requires_confirmation"), look.toString());
    assertFalse(look.has("execution_environment"), look.toString());
  }

  @Test
  void modifyingToolsRunOnceAfterConfirmation() throws Exception {
    // Given
    JsonNode confirmation = call("remember", MILK);
    JsonNode rejected = call("remember", "{\"text\":\"sell the house\"}");
    assertTrue(confirmation.path("requires_confirmation").asBoolean(), confirmation.toString());
    assertEquals(2, confirmation.path("risk_level").asInt());
    assertEquals("buy milk", confirmation.at("/arguments/text").asText());
    assertEquals("nothing", said(call("look", "{}")));

    // When
    JsonNode forged =
        decide(confirmation, true, "0".repeat(confirmation.path("token").asText().length()));
    JsonNode unconfirmed = call("look", "{}");
    JsonNode approved = decide(confirmation, true, confirmation.path("token").asText());
    JsonNode again = decide(confirmation, true, confirmation.path("token").asText());
    decide(rejected, false, rejected.path("token").asText());

    // Then
    assertTrue(forged.has("error"), forged.toString());
    assertEquals("nothing", said(unconfirmed));
    assertEquals("remembered", said(approved));
    assertTrue(again.has("error"), again.toString());
    assertEquals("buy milk", said(call("look", "{}")));
  }

  @Test
  void dangerousToolsRunInTheirOwnContainerWithoutNetwork() throws Exception {
    // Given
    JsonNode confirmation = call("remember", MILK);
    assertEquals(
        "remembered", said(decide(confirmation, true, confirmation.path("token").asText())));

    // When
    JsonNode first = run("id; cat /tmp/notes; touch /x; echo mine > /tmp/notes; cat /tmp/notes");
    JsonNode second = run("cat /tmp/notes; tail -n +3 /proc/net/dev; nc -w 2 192.0.2.1 80");

    // Then
    assertTrue(said(first).startsWith("uid=65534 gid=65534"), first.toString());
    assertTrue(said(first).contains("can't open '/tmp/notes'"), first.toString());
    assertTrue(said(first).contains("/x: Read-only file system"), first.toString());
    assertTrue(said(first).endsWith("mine"), first.toString());
    List<String> lines = said(second).lines().toList();
    assertTrue(lines.get(0).contains("can't open '/tmp/notes'"), second.toString());
    assertEquals(3, lines.size(), "expected only the loopback device: " + second);
    assertTrue(lines.get(1).strip().startsWith("lo:"), second.toString());
    assertTrue(said(second).contains("Network is unreachable"), second.toString());

    JsonNode environment = first.path("execution_environment");
    assertEquals(3, environment.path("risk_level").asInt(), first.toString());
    assertEquals("busybox", environment.path("docker_image").asText());
    assertEquals(
        engine.execute("image", "inspect", "--format", "{{.Id}}", BusyboxImage.NAME),
        environment.path("image_digest").asText());
    assertNotEquals(container(first), container(second));
    assertEquals("buy milk", said(call("look", "{}")));
  }

  private JsonNode run(String command) throws Exception {
    return call("run", "{\"command\":\"" + command + "\"}");
  }

  private JsonNode call(String tool, String arguments) throws Exception {
    return post("/servers/demo/tools/" + tool, arguments);
  }

  private JsonNode decide(JsonNode confirmation, boolean confirm, String token) throws Exception {
    return post(
        "/confirmations/" + confirmation.path("confirmation_id").asText(),
        "{\"confirm\":" + confirm + ",\"token\":\"" + token + "\"}");
  }

  private JsonNode post(String path, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(bridge.url() + path))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return Json.mapper()
        .readTree(CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body());
  }

  private List<String> containers() throws Exception {
    return engine.containers("dev.mcpbridge.pid=" + bridge.process().pid());
  }

  private static String said(JsonNode result) {
    return result.at("/content/0/text").asText(result.toString());
  }

  private static String container(JsonNode result) {
    return result.at("/execution_environment/container_id").asText();
  }
}
