package dev.mcpbridge.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.EraClient.Ear;
import dev.mcpbridge.fixture.McpClient.Reply;
import dev.mcpbridge.fixture.RawJson;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** What the rows of the matrix have in common: where they stand, and how results compare. */
public interface Rows {
  String SERVER_INFO = "io.modelcontextprotocol/serverInfo";
  int METHOD_NOT_FOUND = -32601;
  int INVALID_PARAMS = -32602;

  Combination at();

  World world() throws Exception;

  /** A client in front of the fixture. */
  default EraClient fixture(String capabilities) throws Exception {
    return world().door(at(), "a", capabilities);
  }

  /** A client in front of the exact server. */
  default EraClient exact(String capabilities) throws Exception {
    return world().door(at(), "x", capabilities);
  }

  /**
   * The members of a result that are its server's, as they were written, once it has been seen that
   * what its era adds is there and what the other adds is not.
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

  /** The members of a result without all that its era adds. */
  static Map<String, String> bare(Reply reply) {
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
   * What is heard first, while something is done until it is: a subscription may take its time to
   * stand.
   */
  default String firstHeard(Ear ear, String method, Callable<?> deed) throws Exception {
    CompletableFuture<String> heard = ear.hearing(method);
    world()
        .bridge()
        .until(
            () -> {
              deed.call();
              return heard.isDone();
            });
    return heard.get();
  }

  /** A definition under the name that the door gives it. */
  default String renamed(EraClient eraClient, String definition) {
    String name = RawJson.members(definition).get("name");
    String bare = name.substring(1, name.length() - 1);
    return definition.replaceFirst(
        "\"name\"( ?): ?" + name, "\"name\"$1:\"" + eraClient.name(bare) + "\"");
  }
}
