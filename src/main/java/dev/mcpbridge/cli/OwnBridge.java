package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.config.BridgeConfig;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A bridge within this process that nobody else can use: on a port of its own, with a fresh key.
 */
final class OwnBridge implements AutoCloseable {
  private final Bridge bridge;
  private final String key;
  private boolean isClosed;

  private OwnBridge(Bridge bridge, String key) {
    this.bridge = bridge;
    this.key = key;
    Runtime.getRuntime().addShutdownHook(new Thread(this::close, "own bridge"));
  }

  /**
   * @param name of the one who uses it
   */
  static OwnBridge start(BridgeConfig config, String name) throws TimeoutException {
    String key = ApiKeys.generate();
    AuthConfig.Key own = new AuthConfig.Key(name, ApiKeys.fingerprint(key), Set.of("read", "call"));
    BridgeConfig unshared =
        config.withHttp(config.http().privately()).withAuth(new AuthConfig(List.of(own)));
    return new OwnBridge(Bridge.start(unshared).await(60, TimeUnit.SECONDS), key);
  }

  String url() {
    return bridge.url();
  }

  String key() {
    return key;
  }

  /** Ends its servers, too. */
  @Override
  public synchronized void close() {
    if (!isClosed) {
      isClosed = true;
      try {
        bridge.close(Duration.ZERO).await(30, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        System.err.println("not everything was stopped: " + e.getMessage());
      }
    }
  }
}
