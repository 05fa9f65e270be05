package dev.mcpbridge.cli;

import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.cli.agent.HttpUrl;
import dev.mcpbridge.cli.login.Logins;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.net.URI;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Client of a running bridge, with its address and API key. */
final class BridgeClient {
  private static final int PATIENCE_SECONDS = 10;

  /** The address if none is configured. */
  static final URI DEFAULT_URL = URI.create("http://127.0.0.1:3000");

  @Option(
      names = {"-u", "--url"},
      paramLabel = "URL",
      converter = HttpUrl.class,
      defaultValue = "${env:MCP_BRIDGE_URL:-}",
      description =
          "The bridge (default: MCP_BRIDGE_URL, else%nhttp://127.0.0.1:3000). Its API key is read%n"
              + "from MCP_BRIDGE_KEY in the environment; without one,%na login is used.")
  private URI url;

  private final BridgeHttp http =
      new BridgeHttp(() -> new BridgeTools.BridgeAddress(URI.create(base()), credential(base())));

  /** The URL of the bridge, without a trailing slash. */
  String base() {
    return base(url == null ? DEFAULT_URL : url);
  }

  static String base(URI url) {
    return url.toString().replaceAll("/+$", "");
  }

  /** The API key in MCP_BRIDGE_KEY; null if it is not set. */
  static String key() {
    String key = System.getenv("MCP_BRIDGE_KEY");
    return key == null || key.isBlank() ? null : key;
  }

  /**
   * The credential for each request to a bridge: the API key in MCP_BRIDGE_KEY, else the access
   * token of a login, else null.
   */
  static Supplier<String> credential(String bridge) {
    String key = key();
    Logins logins = Logins.ofUser();
    return key == null ? () -> logins.token(bridge).orElse(null) : () -> key;
  }

  BridgeHttp.Response get(String path) throws InterruptedException {
    return http.exchange("GET", path, null);
  }

  /**
   * Like {@link #get}, for a bridge that may hang.
   *
   * @throws BridgeException SERVER_UNAVAILABLE after ten seconds
   */
  BridgeHttp.Response getSoon(String path) throws InterruptedException {
    FutureTask<BridgeHttp.Response> request = new FutureTask<>(() -> get(path));
    Thread thread = new Thread(request, "request");
    thread.setDaemon(true);
    thread.start();
    try {
      return request.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      thread.interrupt();
      throw new BridgeException(
          ErrorCode.SERVER_UNAVAILABLE,
          "The bridge at " + base() + " did not answer within " + PATIENCE_SECONDS + " seconds");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof BridgeException refused
          ? refused
          : new IllegalStateException(e.getCause());
    }
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
