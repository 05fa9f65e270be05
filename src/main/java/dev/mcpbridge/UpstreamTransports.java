package dev.mcpbridge;

import dev.mcpbridge.adapter.AdaptedTransportFactory;
import dev.mcpbridge.adapter.openapi.OpenApiBackend;
import dev.mcpbridge.adapter.toolcall.ToolCallBackend;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.ToolCallSource;
import dev.mcpbridge.sandbox.Sandboxes;
import dev.mcpbridge.transport.TransportRegistry;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The transport for each kind of entry of {@code mcpServers}. Stateless. */
final class UpstreamTransports {
  private UpstreamTransports() {}

  /**
   * @param mayAct whether this node may start calls at this moment
   */
  static TransportRegistry of(BooleanSupplier mayAct, Sandboxes sandboxes) {
    return new TransportRegistry(
        Map.of(
            ContainerTarget.class,
            sandboxes.opener(),
            OpenApiSource.class,
            new AdaptedTransportFactory<>(
                OpenApiSource.class, OpenApiSource::access, OpenApiBackend::new, mayAct),
            ToolCallSource.class,
            new AdaptedTransportFactory<>(
                ToolCallSource.class, ToolCallSource::access, ToolCallBackend::new, mayAct)),
        mayAct);
  }
}
