package dev.mcpbridge.server;

import dev.mcpbridge.config.ServerConfig;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.transport.ServerLog;
import dev.mcpbridge.transport.StdioTransport;
import io.vertx.core.VerticleBase;
import java.util.Optional;
import java.util.function.LongSupplier;

/** An additional verticle that is deployed and undeployed with a server. */
@FunctionalInterface
public interface ServerExtensions {

  /**
   * @param drainMillis how long calls in flight may continue when the server is undeployed
   */
  Optional<VerticleBase> of(
      InstanceId instanceId,
      ServerConfig server,
      StdioTransport.Limits limits,
      ServerLog log,
      LongSupplier drainMillis);
}
