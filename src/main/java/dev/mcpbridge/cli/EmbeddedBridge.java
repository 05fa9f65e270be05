package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.config.AuthConfig;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An embedded bridge for this process only, on a free loopback port and with a new API key. */
final class EmbeddedBridge implements AutoCloseable {
  private final Bridge bridge;
  private final String key;
  private boolean isClosed;

  private EmbeddedBridge(Bridge bridge, String key) {
    this.bridge = bridge;
    this.key = key;
    Runtime.getRuntime().addShutdownHook(new Thread(this::close, "own bridge"));
  }

  /**
   * @param name the name of the new API key
   */
  static EmbeddedBridge start(BridgeConfig config, String name) {
    String key = ApiKeys.generate();
    AuthConfig.Key own =
        new AuthConfig.Key(name, ApiKeys.fingerprint(key), Set.of("read", "call"), Set.of());
    BridgeConfig unshared =
        config.withHttp(config.http().onLoopback()).withAuth(AuthConfig.ofOneUser(own));
    try {
      return new EmbeddedBridge(Bridge.start(unshared).await(60, TimeUnit.SECONDS), key);
    } catch (TimeoutException e) {
      throw new BridgeException(ErrorCode.START_FAILED, "The bridge did not start within 60 s");
    }
  }

  String url() {
    return bridge.url();
  }

  String key() {
    return key;
  }

  /** Closes the bridge and its servers. Idempotent. */
  @Override
  public synchronized void close() {
    if (!isClosed) {
      isClosed = true;
      try {
        bridge.close(Duration.ZERO).await(30, TimeUnit.SECONDS);
      } catch (TimeoutException e) {
        System.err.println("shutdown incomplete: " + e.getMessage());
      }
    }
  }
}
