package dev.mcpbridge.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;

/** Rules as they are written in the configuration, and callers that they are about. */
final class AccessFixture {
  static final Principal ANALYST = token("corp", "alice", "app", "analyst", "mcp:call");
  static final Principal KEY =
      new Principal("edge", Set.of(Scope.READ, Scope.CALL), Set.of("sensor"), null);

  private AccessFixture() {}

  static Principal token(
      String issuer, String subject, String client, String role, String... scopes) {
    return new Principal(
        issuer + "|" + subject,
        Set.of(Scope.READ, Scope.CALL),
        Set.of(role),
        new Principal.Token(issuer, client, Long.MAX_VALUE, Set.of(scopes), Map.of()));
  }

  /**
   * @param rules the elements of {@code access.rules}, with single quotes
   */
  static AccessPolicy policy(String rules) {
    return section("'rules':[" + rules + "]");
  }

  /**
   * @param members of the section {@code access}, with single quotes
   */
  static AccessPolicy section(String members) {
    String text = "{'access':{" + members + "}}";
    return new AccessPolicy(
        new ConfigReader(Map.of())
            .read(text.replace('\'', '"'), ConfigReader.Strictness.ALL_OR_NOTHING)
            .access());
  }

  static Item tool(String server, String name) {
    return Item.tool(new ServerId(server), name, null);
  }

  static JsonNode json(String text) {
    try {
      return Json.exactTree(text.replace('\'', '"'));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
