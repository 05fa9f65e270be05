package dev.mcpbridge.call;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.Pkce;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a link to the consent page is for.
 *
 * @param name identifies the ticket, and begins with its owner: the same for all that a node asks
 *     of a principal and client for a server; not secret
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

  private static final int MAX_SCOPE = 2_000;

  /** As {@link Principal.Token#clientName()}; null for a key, which has none. */
  public String clientName() {
    return issuer == null ? null : Principal.Token.clientName(client);
  }

  String owner() {
    return owner(name);
  }

  /** The owner with which a name or a state begins. */
  static String owner(String name) {
    return name.split("\\.", 2)[0];
  }

  /**
   * The same for a further scope too; for that one alone if both together are too long. A form that
   * shows less is no longer valid.
   */
  ConsentTicket asking(String further) {
    if (further == null) {
      return this;
    }
    Set<String> all = new LinkedHashSet<>();
    if (scope != null) {
      all.addAll(List.of(scope.split(" ")));
    }
    all.addAll(List.of(further.split(" ")));
    String together = String.join(" ", all);
    return new ConsentTicket(
        name,
        principal,
        issuer,
        client,
        server,
        together.length() > MAX_SCOPE ? further : together,
        together.equals(scope) ? formToken : Pkce.random());
  }

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
