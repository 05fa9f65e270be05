package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.link.Links;
import dev.mcpbridge.config.ClusterConfig;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;

/** The socket options of the links between nodes; with TLS both sides present a certificate. */
final class ClusterSockets {
  private ClusterSockets() {}

  /**
   * @param maxMessage maximum size of a call or a result in bytes; the shared state may be larger
   */
  static Links.Options options(ClusterConfig config, int maxMessage) {
    NetServerOptions server =
        new NetServerOptions()
            .setHost(config.host())
            .setPort(config.port())
            .setTcpNoDelay(true)
            .setReuseAddress(true);
    NetClientOptions client =
        new NetClientOptions()
            .setConnectTimeout((int) Math.max(500, config.leaseMillis()))
            .setTcpNoDelay(true);
    ClusterConfig.Tls tls = config.tls();
    if (tls != null) {
      PemKeyCertOptions own =
          new PemKeyCertOptions()
              .addCertPath(tls.certificate().toString())
              .addKeyPath(tls.key().toString());
      PemTrustOptions trust =
          new PemTrustOptions().addCertPath(tls.trustedCertificates().toString());
      server.setSsl(true).setKeyCertOptions(own).setTrustOptions(trust);
      server.setClientAuth(ClientAuth.REQUIRED);
      client.setSsl(true).setKeyCertOptions(own).setTrustOptions(trust);
      client.setHostnameVerificationAlgorithm("");
    }
    int largest = Math.max(maxMessage, ClusterState.MAX_MESSAGE_BYTES);
    return new Links.Options(server, client, config.secret(), largest, config.leaseMillis());
  }
}
