package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;

/**
 * The options of the listener: sizes of heads, and over TLS also HTTP/2 (RFC 9113), chosen by ALPN.
 * Floods of resets, continuations and other control frames end an HTTP/2 connection, by the limits
 * that Netty has for them.
 */
final class ListenerOptions {
  private static final int MAX_URI = 8192;
  private static final int MAX_HEADERS = 16 * 1024;

  /** Requests at the same time on a connection of HTTP/2. */
  private static final int MAX_STREAMS = 250;

  /** Bytes of request bodies that a connection of HTTP/2 may send ahead. */
  private static final int CONNECTION_WINDOW = 1 << 20;

  private ListenerOptions() {}

  static HttpServerOptions of(HttpConfig config) {
    HttpServerOptions options =
        new HttpServerOptions()
            .setHost(config.host())
            .setPort(config.port())
            .setHttp2ClearTextEnabled(false)
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setHandle100ContinueAutomatically(false)
            .setStrictThreadMode(true)
            .setMaxInitialLineLength(MAX_URI)
            .setMaxHeaderSize(MAX_HEADERS)
            .setAcceptBacklog(1024);
    if (config.tls() != null) {
      options
          .setSsl(true)
          .setUseAlpn(true)
          .setInitialSettings(
              new Http2Settings()
                  .setMaxConcurrentStreams(MAX_STREAMS)
                  .setMaxHeaderListSize(MAX_HEADERS))
          .setHttp2ConnectionWindowSize(CONNECTION_WINDOW)
          .setKeyCertOptions(
              new PemKeyCertOptions()
                  .addCertPath(config.tls().certificate().toString())
                  .addKeyPath(config.tls().key().toString()));
    }
    return options;
  }
}
