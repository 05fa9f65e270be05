package dev.mcpbridge.gitserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonSyntaxException;
import dev.mcpbridge.protocol.JsonWriter;
import dev.mcpbridge.protocol.McpMethod;
import dev.mcpbridge.protocol.ProtocolVersion;
import dev.mcpbridge.protocol.RpcError;
import dev.mcpbridge.protocol.RpcMessage;
import dev.mcpbridge.protocol.RpcReader;
import dev.mcpbridge.protocol.RpcWriter;
import dev.mcpbridge.protocol.ToolResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The MCP protocol over stdin and stdout (revisions with a handshake). Requests are handled one by
 * one until stdin ends.
 */
public final class GitServer {
  private static final String TOOLS = "/dev/mcpbridge/gitserver/tools.json";
  private static final int DEPTH = 100;

  private final GitTools tools;
  private final JsonSlice definitions;
  private final Set<String> names;

  /**
   * @param roots folders below which repositories are used
   * @param trusted folders whose repositories may belong to other users
   * @param hooksAllowed whether commits and pushes may run the hooks of a repository
   */
  public GitServer(List<Path> roots, List<Path> trusted, boolean hooksAllowed) throws IOException {
    this.tools = new GitTools(new Repositories(roots, trusted), hooksAllowed);
    try (InputStream in = GitServer.class.getResourceAsStream(TOOLS)) {
      JsonNode all = Json.tree(in.readAllBytes());
      if (hooksAllowed) {
        all.path("tools").forEach(GitServer::offerHooks);
      }
      this.definitions = Json.slice(all);
      this.names =
          all.path("tools")
              .valueStream()
              .map(tool -> tool.path("name").asText())
              .collect(Collectors.toUnmodifiableSet());
    }
  }

  /** Adds a required argument for hooks, so that it is shown when the call is to be approved. */
  private static void offerHooks(JsonNode tool) {
    String name = tool.path("name").asText();
    if (!name.equals("git_commit") && !name.equals("git_push")) {
      return;
    }
    String description = tool.path("description").asText();
    ((ObjectNode) tool)
        .put(
            "description",
            description + " With run_hooks: true the repository's hooks, which are programs, run.");
    ObjectNode input = (ObjectNode) tool.path("inputSchema");
    ((ObjectNode) input.path("properties"))
        .putObject("run_hooks")
        .put("type", "boolean")
        .put("description", "Whether to run the programs in the repository's .git/hooks.");
    ((ArrayNode) input.path("required")).add("run_hooks");
    ((ObjectNode) tool.path("annotations")).put("destructiveHint", true).put("openWorldHint", true);
  }

  /** Handles requests until {@code in} ends. Blocks. */
  public void serve(InputStream in, OutputStream out) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonWriter response = respond(line.getBytes(StandardCharsets.UTF_8));
      if (response != null) {
        out.write(response.toLine());
        out.flush();
      }
    }
  }

  /** The response to a line; null if it is not a request. */
  private JsonWriter respond(byte[] line) {
    RpcMessage message;
    try {
      message = new RpcReader(DEPTH).read(line, 0, line.length);
    } catch (JsonSyntaxException e) {
      return null;
    }
    if (message.kind() != RpcMessage.Kind.REQUEST) {
      return null;
    }
    return switch (message.method()) {
      case McpMethod.INITIALIZE -> RpcWriter.result(message.id(), initialize(message.payload()));
      case McpMethod.PING -> RpcWriter.result(message.id(), JsonSlice.EMPTY_OBJECT);
      case McpMethod.TOOLS_LIST -> RpcWriter.result(message.id(), definitions);
      case McpMethod.TOOLS_CALL -> call(message);
      default ->
          RpcWriter.error(
              message.id(), RpcError.METHOD_NOT_FOUND, "Unknown method " + message.method());
    };
  }

  private static JsonSlice initialize(JsonSlice params) {
    String requested = read(params).path("protocolVersion").asText();
    String version = ProtocolVersion.of(requested).orElse(ProtocolVersion.LATEST).date();
    return new JsonWriter()
        .beginObject()
        .member("protocolVersion", version)
        .name("capabilities")
        .beginObject()
        .member("tools", JsonSlice.EMPTY_OBJECT)
        .endObject()
        .name("serverInfo")
        .beginObject()
        .member("name", "mcp-bridge-git")
        .member("title", "Git repositories")
        .member("version", "1")
        .endObject()
        .member(
            "instructions",
            "Works on the Git repositories below its roots. Start with list_repositories; every"
                + " other tool takes the name of a repository.")
        .endObject()
        .toSlice();
  }

  private JsonWriter call(RpcMessage message) {
    JsonNode params = read(message.payload());
    String name = params.path("name").asText();
    if (!names.contains(name)) {
      return RpcWriter.error(message.id(), RpcError.INVALID_PARAMS, "Unknown tool " + name);
    }
    try {
      ObjectNode arguments =
          params.path("arguments") instanceof ObjectNode object ? object : Json.object();
      return RpcWriter.result(message.id(), result(tools.call(name, arguments)));
    } catch (Exception | OutOfMemoryError | StackOverflowError e) {
      return RpcWriter.result(message.id(), failure(e));
    }
  }

  /** Structured content, and the same as text for clients that do not support it. */
  private static JsonSlice result(ObjectNode outcome) {
    return ToolResult.text(outcome.toPrettyString()).structured(Json.slice(outcome)).done();
  }

  /** Also for errors: a repository can make JGit run out of memory; the next call still works. */
  private static JsonSlice failure(Throwable e) {
    return ToolResult.text(e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage())
        .error();
  }

  private static JsonNode read(JsonSlice params) {
    try {
      return params == null ? Json.object() : Json.tree(params);
    } catch (IOException e) {
      return Json.object();
    }
  }
}
