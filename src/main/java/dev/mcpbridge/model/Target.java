package dev.mcpbridge.model;

/**
 * What a call addresses at a server.
 *
 * @param name name of a tool or a prompt, or URI of a resource
 */
public record Target(Kind kind, String name) {

  /** The kinds of MCP requests that reach a server. */
  public enum Kind {
    TOOL("tools/call", "tool"),
    RESOURCE("resources/read", "resource"),
    PROMPT("prompts/get", "prompt"),
    /** Suggestions for an argument; the arguments of the call are the whole params. */
    COMPLETION("completion/complete", "completion");

    private final String method;
    private final String noun;

    Kind(String method, String noun) {
      this.method = method;
      this.noun = noun;
    }

    public String method() {
      return method;
    }

    public String noun() {
      return noun;
    }
  }

  public static Target tool(String name) {
    return new Target(Kind.TOOL, name);
  }
}
