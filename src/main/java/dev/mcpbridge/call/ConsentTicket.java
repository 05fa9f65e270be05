package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;

/**
 * What a link to the consent page is for.
 *
 * @param name identifies the ticket; not secret
 * @param principal who has to agree
 * @param issuer name of the issuer of the principal's token; null for a key
 * @param client the client that the token was issued to; null if unknown
 * @param scope what is asked for; null if unknown
 * @param formToken repeated by the form of the page
 */
public record ConsentTicket(
    String name,
    String principal,
    String issuer,
    String client,
    ServerId server,
    String scope,
    String formToken) {

  String json() {
    return Json.object()
        .put("name", name)
        .put("principal", principal)
        .put("issuer", issuer)
        .put("client", client)
        .put("server", server.name())
        .put("scope", scope)
        .put("formToken", formToken)
        .toString();
  }

  static ConsentTicket of(JsonNode json) {
    return new ConsentTicket(
        json.path("name").asText(),
        json.path("principal").asText(),
        json.path("issuer").textValue(),
        json.path("client").textValue(),
        new ServerId(json.path("server").asText()),
        json.path("scope").textValue(),
        json.path("formToken").asText());
  }
}
