package dev.mcpbridge.cli;

import dev.mcpbridge.protocol.PercentEncoding;
import java.util.List;
import picocli.CommandLine.Option;

/** Which of the MCP endpoints of a bridge is used: that of all servers, of one, or of a profile. */
final class EndpointChoice {
  @Option(
      names = {"-s", "--server"},
      paramLabel = "SERVER",
      description = "Only this server, with unqualified names.")
  private String server;

  @Option(
      names = "--profile",
      paramLabel = "PROFILE",
      description = "What this profile of the bridge offers.")
  private String profile;

  /** The path of the endpoint. */
  String path() {
    if (profile != null) {
      return "/profiles/" + PercentEncoding.encoded(profile) + "/mcp";
    }
    return server == null ? "/mcp" : "/servers/" + PercentEncoding.encoded(server) + "/mcp";
  }

  /** The options that choose it. */
  List<String> options() {
    if (profile != null) {
      return List.of("--profile", profile);
    }
    return server == null ? List.of() : List.of("--server", server);
  }

  /** The server or the profile; null for all servers. */
  String name() {
    return profile == null ? server : profile;
  }
}
