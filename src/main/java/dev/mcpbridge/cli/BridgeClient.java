package dev.mcpbridge.cli;

import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.cli.agent.HttpUrl;
import java.net.URI;
import picocli.CommandLine.Option;

/** Client of a running bridge, with its address and API key. */
final class BridgeClient {
  /** The address if none is configured. */
  static final URI DEFAULT_URL = URI.create("http://127.0.0.1:3000");

  @Option(
      names = {"-u", "--url"},
      paramLabel = "URL",
      converter = HttpUrl.class,
      defaultValue = "${env:MCP_BRIDGE_URL:-}",
      description =
          "The bridge (default: MCP_BRIDGE_URL, else%nhttp://127.0.0.1:3000). Its API key is read%n"
              + "from MCP_BRIDGE_KEY in the environment.")
  private URI url;

  private final BridgeHttp http =
      new BridgeHttp(() -> new BridgeTools.BridgeAddress(url == null ? DEFAULT_URL : url, key()));

  /** The API key for a running bridge; null if MCP_BRIDGE_KEY is not set. */
  static String key() {
    return System.getenv("MCP_BRIDGE_KEY");
  }

  BridgeHttp.Response get(String path) throws InterruptedException {
    return http.exchange("GET", path, null);
  }

  BridgeHttp.Response put(String path) throws InterruptedException {
    return http.exchange("PUT", path, null);
  }

  BridgeHttp.Response delete(String path) throws InterruptedException {
    return http.exchange("DELETE", path, null);
  }

  BridgeHttp.Response post(String path, String json) throws InterruptedException {
    return http.exchange("POST", path, json);
  }
}
