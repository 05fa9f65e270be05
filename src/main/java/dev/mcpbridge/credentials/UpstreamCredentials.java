package dev.mcpbridge.credentials;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Future;
import java.util.function.Function;

/**
 * Credentials that callers stored for APIs behind the bridge, each for one principal and one
 * server, until it expires. It is not sent to another address that the server has got meanwhile.
 *
 * @param address of a server by the present configuration
 */
public record UpstreamCredentials(CredentialStore store, Function<ServerId, String> address) {

  private static String name(String principal, ServerId server) {
    return "stored " + server.name() + ' ' + principal;
  }

  /**
   * Stores a credential. Fails with OVERLOADED if there is no room.
   *
   * @param authorization value of the header Authorization
   */
  public Future<Void> put(String principal, ServerId server, String authorization, long millis) {
    String kept =
        Json.object()
            .put("at", address.apply(server))
            .put("authorization", authorization)
            .toString();
    return store.put(name(principal, server), kept, millis);
  }

  public Future<Void> remove(String principal, ServerId server) {
    return store.remove(name(principal, server));
  }

  /** The credential; null if absent or expired. */
  public String of(String principal, ServerId server) {
    String kept = store.known(name(principal, server)).text();
    if (kept == null) {
      return null;
    }
    JsonNode json = Json.parsed(kept);
    return json.path("at").asText().equals(address.apply(server))
        ? json.path("authorization").asText()
        : null;
  }
}
