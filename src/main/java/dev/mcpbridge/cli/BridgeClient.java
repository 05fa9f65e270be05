package dev.mcpbridge.cli;

import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.cli.agent.HttpUrl;
import java.net.URI;
import picocli.CommandLine.Option;

/** Talks to a running bridge: where it is, and with which key. */
final class BridgeClient {
  /** Where a bridge is that nobody has told otherwise. */
  static final URI USUAL = URI.create("http://127.0.0.1:3000");

  @Option(
      names = {"-u", "--url"},
      paramLabel = "URL",
      converter = HttpUrl.class,
      defaultValue = "${env:MCP_BRIDGE_URL:-}",
      description =
          "The bridge (default: MCP_BRIDGE_URL, else%nhttp://127.0.0.1:3000). Its API key is taken%n"
              + "from MCP_BRIDGE_KEY in the environment.")
  private URI url;

  private final BridgeHttp http =
      new BridgeHttp(() -> new BridgeTools.BridgeAddress(url == null ? USUAL : url, key()));

  /** The API key for a running bridge; null where there is none. */
  static String key() {
    return System.getenv("MCP_BRIDGE_KEY");
  }

  BridgeHttp.Answer get(String path) throws InterruptedException {
    return http.exchange("GET", path, null);
  }

  BridgeHttp.Answer post(String path, String json) throws InterruptedException {
    return http.exchange("POST", path, json);
  }
}
