package dev.mcpbridge.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;

/** An MCP client, and where and how its file of servers names one. */
enum ClientFile {
  CLAUDE_CODE("mcpServers", ".mcp.json", "url", "${MCP_BRIDGE_KEY}", true),
  CLAUDE_DESKTOP("mcpServers", "", "", "", false),
  CURSOR("mcpServers", "~/.cursor/mcp.json", "url", "${env:MCP_BRIDGE_KEY}", false),
  VSCODE("servers", ".vscode/mcp.json", "url", "${env:MCP_BRIDGE_KEY}", true),
  WINDSURF(
      "mcpServers",
      "~/.codeium/windsurf/mcp_config.json",
      "serverUrl",
      "${env:MCP_BRIDGE_KEY}",
      false),
  GEMINI("mcpServers", "~/.gemini/settings.json", "httpUrl", "${MCP_BRIDGE_KEY}", false);

  private final String section;
  private final String file;
  private final String urlMember;
  private final String key;
  private final boolean hasType;

  /**
   * @param section member of the file that has the servers
   * @param file beginning with {@code ~} in the home folder, else in the working folder
   * @param urlMember member of an entry that has the URL
   * @param key how the file refers to the variable with the key
   * @param hasType whether an entry names its transport
   */
  ClientFile(String section, String file, String urlMember, String key, boolean hasType) {
    this.section = section;
    this.file = file;
    this.urlMember = urlMember;
    this.key = key;
    this.hasType = hasType;
  }

  /** The name on the command line. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String section() {
    return section;
  }

  Path path() {
    Path home = Path.of(System.getProperty("user.home"));
    if (this == CLAUDE_DESKTOP) {
      return claudeDesktop(home, System.getProperty("os.name").toLowerCase(Locale.ROOT));
    }
    return file.startsWith("~/") ? home.resolve(file.substring(2)) : Path.of(file);
  }

  private static Path claudeDesktop(Path home, String system) {
    String folder =
        system.startsWith("mac")
            ? "Library/Application Support"
            : system.startsWith("windows") ? "AppData/Roaming" : ".config";
    return home.resolve(folder).resolve("Claude").resolve("claude_desktop_config.json");
  }

  /**
   * The entry of a bridge.
   *
   * @param endpoint which of its endpoints
   * @param needsKey whether the bridge needs a key, which is read from the environment
   */
  ObjectNode entry(String base, EndpointChoice endpoint, boolean needsKey) {
    ObjectNode entry = Json.object();
    if (this == CLAUDE_DESKTOP) {
      entry.put("command", "mcp-bridge").putArray("args").add("stdio").add("--url").add(base);
      endpoint.options().forEach(entry.withArray("args")::add);
      return entry;
    }
    if (hasType) {
      entry.put("type", "http");
    }
    entry.put(urlMember, URI.create(base + endpoint.path()).toString());
    if (needsKey) {
      entry.putObject("headers").put("Authorization", "Bearer " + key);
    }
    return entry;
  }
}
