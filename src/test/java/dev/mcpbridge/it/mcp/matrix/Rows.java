package dev.mcpbridge.it.mcp.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.EraClient.NotificationStream;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.RawJson;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Common to all rows of the matrix: the column's combination and the comparison of results. */
public interface Rows {
  String SERVER_INFO = "io.modelcontextprotocol/serverInfo";
  int METHOD_NOT_FOUND = -32601;
  int INVALID_PARAMS = -32602;

  Combination at();

  World world() throws Exception;

  /** A client of the bridge's endpoint for the Node.js fixture. */
  default EraClient fixture(String capabilities) throws Exception {
    return world().client(at(), "a", capabilities);
  }

  /** A client of the bridge's endpoint for the exact server. */
  default EraClient exact(String capabilities) throws Exception {
    return world().client(at(), "x", capabilities);
  }

  /**
   * The server's members of a result, verbatim. Asserts that the members the client's era adds are
   * present and those of the other era are absent.
   */
  default Map<String, String> body(Reply reply) {
    reply.result();
    Map<String, String> members = reply.rawResult();
    if (at().stateless()) {
      assertEquals("\"complete\"", members.remove("resultType"), reply.text());
      members.remove("ttlMs");
      members.remove("cacheScope");
      return withoutServerInfo(members);
    }
    assertFalse(members.containsKey("resultType"), reply.text());
    assertFalse(members.containsKey("ttlMs"), reply.text());
    assertFalse(members.containsKey("cacheScope"), reply.text());
    assertFalse(reply.text().contains(SERVER_INFO), reply.text());
    return members;
  }

  /** The members of a result without those that its era adds. */
  static Map<String, String> withoutEraMembers(Reply reply) {
    reply.result();
    Map<String, String> members = reply.rawResult();
    members.remove("resultType");
    members.remove("ttlMs");
    members.remove("cacheScope");
    return withoutServerInfo(members);
  }

  private static Map<String, String> withoutServerInfo(Map<String, String> members) {
    if (members.containsKey("_meta")) {
      Map<String, String> meta = RawJson.members(members.get("_meta"));
      if (meta.size() == 1 && meta.containsKey(SERVER_INFO)) {
        members.remove("_meta");
      }
    }
    return members;
  }

  /**
   * Repeats an action until a notification arrives, since a subscription may become effective with
   * a delay; returns the first notification.
   */
  default String awaitFirst(
      NotificationStream notificationStream, String method, Callable<?> action) throws Exception {
    CompletableFuture<String> notification = notificationStream.nextLater(method);
    world()
        .bridge()
        .until(
            () -> {
              action.call();
              return notification.isDone();
            });
    return notification.get();
  }

  /** A definition with the name that the client's endpoint gives it. */
  default String renamed(EraClient eraClient, String definition) {
    String name = RawJson.members(definition).get("name");
    String bare = name.substring(1, name.length() - 1);
    return definition.replaceFirst(
        "\"name\"( ?): ?" + name, "\"name\"$1:\"" + eraClient.name(bare) + "\"");
  }
}
