package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.Future;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Registers the bridge at authorization servers: beforehand, by the URL of its metadata, or
 * dynamically (RFC 7591). A dynamic registration is kept for its issuer and redirect URI, and never
 * used at another issuer.
 */
final class Registrations {
  private final GuardedHttp http;
  private final CredentialStore store;
  private final ServerId server;
  private final OAuthConfig config;

  Registrations(GuardedHttp http, CredentialStore store, ServerId server, OAuthConfig config) {
    this.http = http;
    this.store = store;
    this.server = server;
    this.config = config;
  }

  Future<Registration> at(AuthorizationServer issuer, BridgeUrls bridge) {
    OAuthConfig.Client client = config.client();
    if (client.id() != null) {
      return Future.succeededFuture(Registration.of(client, issuer));
    }
    String metadata = client.metadataUrl() == null ? bridge.clientMetadata() : client.metadataUrl();
    if (issuer.readsClientMetadata() && metadata.startsWith("https://")) {
      return Future.succeededFuture(Registration.open(metadata));
    }
    if (issuer.endpoint("registration_endpoint").isEmpty()) {
      return Future.failedFuture(
          new IOException(
              "its authorization server registers no clients by itself: set oauth.clientId"));
    }
    String name =
        "client " + server.name() + ' ' + issuer.issuer() + ' ' + bridge.callback(server.name());
    return store.get(name).compose(kept -> keptOrNew(name, kept, issuer, bridge));
  }

  /** Deletes a dynamic registration, so that the next authorization registers anew. */
  void forget(Registration client) {
    for (String name : store.names("client " + server.name() + ' ')) {
      CredentialStore.Secret kept = store.known(name);
      if (kept.isPresent() && Registration.of(Json.parsed(kept.text())).equals(client)) {
        store.remove(name, kept.version());
      }
    }
  }

  private Future<Registration> keptOrNew(
      String name, CredentialStore.Secret kept, AuthorizationServer issuer, BridgeUrls bridge) {
    if (kept.isPresent()) {
      JsonNode registered = Json.parsed(kept.text());
      long expires = registered.path("expires").asLong();
      if (expires == 0 || expires > System.currentTimeMillis()) {
        return Future.succeededFuture(Registration.of(registered));
      }
    }
    return register(issuer, bridge)
        .compose(
            registered ->
                store
                    .put(name, registered.toString(), Long.MAX_VALUE)
                    .map(stored -> Registration.of(registered)));
  }

  private Future<ObjectNode> register(AuthorizationServer issuer, BridgeUrls bridge) {
    String method = Registration.method(issuer);
    ObjectNode body = ClientMetadata.of(bridge.callback(server.name()), method);
    return http.postJson(issuer.endpoint("registration_endpoint"), body)
        .compose(
            answer ->
                answer.status() / 100 == 2 && answer.json().path("client_id").isTextual()
                    ? Future.succeededFuture(registered(answer.json(), method))
                    : Future.failedFuture(
                        new IOException(
                            "its authorization server refuses to register the bridge: status "
                                + answer.status())));
  }

  private static ObjectNode registered(JsonNode answer, String requested) {
    return new Registration(
            answer.path("client_id").asText(),
            answer.path("client_secret").textValue(),
            answer.path("token_endpoint_auth_method").asText(requested),
            null)
        .json()
        .put(
            "expires", TimeUnit.SECONDS.toMillis(answer.path("client_secret_expires_at").asLong()));
  }
}
