package dev.mcpbridge.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests to the engine depend on the implementation that it reports. */
@ExtendWith(VertxExtension.class)
class EngineTest {
  private static final String DOCKER = "{\"Components\":[{\"Name\":\"Engine\"}]}";
  private static final String PODMAN = "{\"Components\":[{\"Name\":\"Podman Engine\"}]}";

  private final Queue<JsonNode> created = new ConcurrentLinkedQueue<>();
  private Vertx vertx;
  private HttpServer server;
  private ContainerEngine containerEngine;
  private volatile String version = DOCKER;

  @BeforeEach
  void start(Vertx vertx) throws IOException {
    this.vertx = vertx;
    listen(0);
    containerEngine =
        new ContainerEngine(
            vertx, "tcp://127.0.0.1:" + server.getAddress().getPort(), Labels.own());
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void listen(int port) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10);
    server.createContext("/", this::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    String path = exchange.getRequestURI().getPath();
    if (path.endsWith("/version")) {
      send(exchange, version.isEmpty() ? 403 : 200, version);
    } else if (path.endsWith("/containers/create")) {
      created.add(Json.tree(body));
      send(exchange, 201, "{\"Id\":\"c\"}");
    } else {
      send(exchange, 404, "{\"message\":\"no such thing\"}");
    }
  }

  private static void send(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("content-type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private String create() throws Exception {
    ContainerTarget container = ProfileTest.container(Map.of("/tmp", 4096L));
    ContainerEngine.Image image = new ContainerEngine.Image("image", "sha256:1", Set.of(), true);
    return EventLoops.await(vertx, () -> containerEngine.create(container, image, "s"));
  }

  private JsonNode tmpfs() throws Exception {
    assertEquals("c", create());
    return created.remove().at("/HostConfig/Tmpfs");
  }

  @Test
  void dockerGetsOnlyTheConfiguredTmpfs() throws Exception {
    JsonNode tmpfs = tmpfs();

    assertEquals(1, tmpfs.size(), tmpfs.toString());
    assertTrue(tmpfs.path("/tmp").asText().startsWith("rw,"), tmpfs.toString());
  }

  @Test
  void podmanGetsReadOnlyMountsForItsWritableFolders() throws Exception {
    version = PODMAN;

    JsonNode tmpfs = tmpfs();

    assertEquals(3, tmpfs.size(), tmpfs.toString());
    assertTrue(tmpfs.path("/tmp").asText().startsWith("rw,"), tmpfs.toString());
    assertTrue(tmpfs.path("/run").asText().startsWith("ro,"), tmpfs.toString());
    assertTrue(tmpfs.path("/var/tmp").asText().startsWith("ro,"), tmpfs.toString());
  }

  @Test
  void anUnidentifiedEngineGetsNoContainer() {
    version = "";

    BridgeException refused = assertThrows(BridgeException.class, this::create);

    assertEquals(ErrorCode.ISOLATION_UNAVAILABLE, refused.code());
    assertTrue(refused.getMessage().contains("403"), refused.getMessage());
    assertTrue(created.isEmpty());
  }

  @Test
  void aReplacedEngineIsIdentifiedAgain() throws Exception {
    assertEquals(1, tmpfs().size());
    int port = server.getAddress().getPort();
    server.stop(0);
    BridgeException gone = assertThrows(BridgeException.class, this::create);
    assertTrue(gone.getMessage().startsWith("No container engine answers"), gone.getMessage());

    version = PODMAN;
    listen(port);

    assertEquals(3, tmpfs().size());
  }
}
