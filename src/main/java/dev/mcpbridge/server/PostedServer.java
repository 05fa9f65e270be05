package dev.mcpbridge.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigProblem;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.SandboxConfig;
import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.util.List;

/** Understands the definition of a server that came over the API. Stateless. */
final class PostedServer {
  private PostedServer() {}

  /** The failures that the original's API has come with its status and its sentence. */
  static ServerConfig read(JsonSlice definition, SandboxConfig ceiling) {
    try {
      JsonNode body = Json.tree(definition);
      if (!body.hasNonNull("id") || !body.hasNonNull("command")) {
        throw new BridgeException(
            ErrorCode.MALFORMED_REQUEST, "Server ID and command are required");
      }
      return ConfigReader.readServer(body, ceiling);
    } catch (IOException e) {
      throw new BridgeException(ErrorCode.MALFORMED_REQUEST, "The body is not valid JSON");
    } catch (ConfigException e) {
      throw refusal(e);
    }
  }

  private static BridgeException refusal(ConfigException e) {
    List<String> paths = e.problems().stream().map(ConfigProblem::path).toList();
    List<String> all = e.problems().stream().map(ConfigProblem::toString).toList();
    boolean inContract = paths.contains("riskLevel") || paths.contains("docker.image");
    return new BridgeException(
            inContract ? ErrorCode.MALFORMED_REQUEST : ErrorCode.INVALID_SERVER, e.getMessage())
        .with("errors", all);
  }
}
