package dev.mcpbridge.cli.doctor;

import dev.mcpbridge.config.HttpConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Examines whether a bridge can listen, or does already, and its certificate. */
final class ListenerExamination {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private ListenerExamination() {}

  static List<Finding> of(HttpConfig http) {
    List<Finding> findings = new ArrayList<>();
    findings.add(port(http));
    if (http.tls() != null) {
      findings.add(
          CertificateExamination.of("http.tls.cert", http.tls().certificate(), Instant.now()));
    }
    return findings;
  }

  private static Finding port(HttpConfig http) {
    String subject = "listener " + http.host() + ":" + http.port();
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByName(http.host()), http.port()));
      return Finding.ok(subject, "free");
    } catch (IOException e) {
      return isBridge(http)
          ? Finding.ok(subject, "an MCP Bridge listens there")
          : Finding.problem(
              subject,
              "not available: " + e.getMessage(),
              "Choose another address with http.host and http.port, or serve --port");
    }
  }

  /** Over TLS its certificate may not be one that this machine trusts, and it is not asked. */
  private static boolean isBridge(HttpConfig http) {
    String host = InetAddress.getLoopbackAddress().getHostAddress();
    URI url = URI.create("http://" + (http.isLoopback() ? http.host() : host) + ":" + http.port());
    if (http.tls() != null) {
      return Reachability.of(url.getHost(), http.port()).problem().isEmpty();
    }
    try {
      HttpRequest request = HttpRequest.newBuilder(url.resolve("/")).timeout(TIMEOUT).build();
      HttpResponse<String> welcome =
          HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
      return welcome.body().contains("\"mcp-bridge\"");
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
