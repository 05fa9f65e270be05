package dev.mcpbridge;

import dev.mcpbridge.adapter.AdaptedTransportFactory;
import dev.mcpbridge.adapter.HttpCaller;
import dev.mcpbridge.adapter.grpc.GrpcBackend;
import dev.mcpbridge.adapter.openapi.OpenApiBackend;
import dev.mcpbridge.adapter.toolcall.ToolCallBackend;
import dev.mcpbridge.config.ContainerTarget;
import dev.mcpbridge.config.GrpcSource;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.config.ToolCallSource;
import dev.mcpbridge.sandbox.Sandboxes;
import dev.mcpbridge.transport.HttpSender;
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
                OpenApiSource.class,
                (vertx, name, api, memory, maxBody) ->
                    new OpenApiBackend(
                        vertx,
                        name,
                        api,
                        new HttpCaller(vertx, api.access(), memory, mayAct),
                        maxBody)),
            ToolCallSource.class,
            new AdaptedTransportFactory<>(
                ToolCallSource.class,
                (vertx, name, executor, memory, maxBody) ->
                    new ToolCallBackend(
                        vertx,
                        name,
                        executor,
                        new HttpCaller(vertx, executor.access(), memory, mayAct),
                        maxBody)),
            GrpcSource.class,
            new AdaptedTransportFactory<>(
                GrpcSource.class,
                (vertx, name, server, memory, maxBody) ->
                    new GrpcBackend(
                        vertx,
                        name,
                        server,
                        HttpSender.http2(vertx, server.access(), memory, mayAct),
                        maxBody))),
        mayAct);
  }
}
