package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import io.vertx.core.MultiMap;
import java.util.ArrayList;
import java.util.List;

/**
 * What a caller has granted the bridge at a server.
 *
 * @param terms of the authorization
 * @param tokens the newest
 * @param issuedMillis when they were issued
 * @param refreshingUntilMillis until when a node that refreshes them is waited for; 0 for none
 * @param clients of the caller that may use it, the latest last
 */
record Grant(
    Terms terms,
    TokenEndpoint.Tokens tokens,
    long issuedMillis,
    long refreshingUntilMillis,
    List<String> clients) {
  private static final int MAX_CLIENTS = 100;

  /** How long a node may take for a refresh. */
  private static final long REFRESH_MILLIS = 15_000;

  /** Tokens are refreshed when this part of their lifetime has passed. */
  private static final double FRESH = 0.8;

  /**
   * What stays the same while tokens are refreshed.
   *
   * @param server URL of the server for which it was given
   * @param revocationEndpoint null if tokens cannot be revoked
   * @param resource null if the server has no resource indicator
   */
  record Terms(
      String server,
      String issuer,
      String tokenEndpoint,
      String revocationEndpoint,
      Registration client,
      String resource,
      List<String> scopes) {

    ObjectNode json() {
      ObjectNode json =
          Json.object()
              .put("server", server)
              .put("issuer", issuer)
              .put("tokenEndpoint", tokenEndpoint)
              .put("revocationEndpoint", revocationEndpoint)
              .put("resource", resource);
      scopes.forEach(json.putArray("scopes")::add);
      return json.set("client", client.json());
    }

    static Terms of(JsonNode json) {
      List<String> scopes = new ArrayList<>();
      json.path("scopes").forEach(scope -> scopes.add(scope.asText()));
      return new Terms(
          json.path("server").asText(),
          json.path("issuer").asText(),
          json.path("tokenEndpoint").asText(),
          json.path("revocationEndpoint").textValue(),
          Registration.of(json.path("client")),
          json.path("resource").textValue(),
          scopes);
    }
  }

  static Grant of(Terms terms, TokenEndpoint.Tokens tokens) {
    Terms granted =
        tokens.scopes() == null
            ? terms
            : new Terms(
                terms.server(),
                terms.issuer(),
                terms.tokenEndpoint(),
                terms.revocationEndpoint(),
                terms.client(),
                terms.resource(),
                tokens.scopes());
    return new Grant(granted, tokens, System.currentTimeMillis(), 0, List.of());
  }

  String header() {
    return "Bearer " + tokens.access();
  }

  boolean isFresh(long millis) {
    boolean expires = tokens.expiresMillis() != Long.MAX_VALUE;
    return !expires || millis < issuedMillis + (tokens.expiresMillis() - issuedMillis) * FRESH;
  }

  boolean isExpired(long millis) {
    return millis >= tokens.expiresMillis();
  }

  boolean isRefreshable() {
    return tokens.refresh() != null;
  }

  boolean isBeingRefreshed(long millis) {
    return millis < refreshingUntilMillis;
  }

  Grant refreshing(long millis) {
    return new Grant(terms, tokens, issuedMillis, millis + REFRESH_MILLIS, clients);
  }

  Grant notRefreshing() {
    return new Grant(terms, tokens, issuedMillis, 0, clients);
  }

  /**
   * Whether a caller may use it.
   *
   * @param client null for a caller without one
   */
  boolean isFor(String client) {
    return client == null || clients.contains(client);
  }

  /**
   * For one more client than an earlier grant, unless it allows more: to that, only this client has
   * been agreed.
   *
   * @param earlier null for none
   * @param client null for a caller without one
   */
  Grant usableBy(Grant earlier, String client) {
    boolean isWider = earlier == null || !earlier.terms().scopes().containsAll(terms.scopes());
    List<String> all = new ArrayList<>(isWider ? List.of() : earlier.clients());
    if (client != null) {
      all.remove(client);
      all.add(client);
    }
    return usableBy(all.subList(Math.max(0, all.size() - MAX_CLIENTS), all.size()));
  }

  private Grant usableBy(List<String> some) {
    return new Grant(terms, tokens, issuedMillis, refreshingUntilMillis, List.copyOf(some));
  }

  /** With new tokens; the refresh token stays if there is no new one (RFC 6749 section 6). */
  Grant renewed(TokenEndpoint.Tokens next) {
    String refresh = next.refresh() == null ? tokens.refresh() : next.refresh();
    return of(
            terms,
            new TokenEndpoint.Tokens(next.access(), refresh, next.expiresMillis(), next.scopes()))
        .usableBy(clients);
  }

  /** The request for new tokens. */
  MultiMap refreshForm() {
    MultiMap form =
        MultiMap.caseInsensitiveMultiMap()
            .add("grant_type", "refresh_token")
            .add("refresh_token", tokens.refresh());
    return terms.resource() == null ? form : form.add("resource", terms.resource());
  }

  String json() {
    ObjectNode json =
        Json.object()
            .put("access", tokens.access())
            .put("refresh", tokens.refresh())
            .put("expires", tokens.expiresMillis())
            .put("issued", issuedMillis)
            .put("refreshingUntil", refreshingUntilMillis)
            .set("terms", terms.json());
    clients.forEach(json.putArray("clients")::add);
    return json.toString();
  }

  static Grant of(String json) {
    JsonNode read = Json.parsed(json);
    List<String> clients = new ArrayList<>();
    read.path("clients").forEach(client -> clients.add(client.asText()));
    return new Grant(
        Terms.of(read.path("terms")),
        new TokenEndpoint.Tokens(
            read.path("access").asText(),
            read.path("refresh").textValue(),
            read.path("expires").asLong(),
            null),
        read.path("issued").asLong(),
        read.path("refreshingUntil").asLong(),
        clients);
  }
}
