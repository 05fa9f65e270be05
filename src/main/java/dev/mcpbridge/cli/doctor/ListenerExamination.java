package dev.mcpbridge.cli.doctor;

import dev.mcpbridge.config.HttpConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Examines whether a bridge can listen, or does already, and its certificate. */
final class ListenerExamination {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_WELCOME = 4096;

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
    String own = http.isLoopback() ? http.host() : "127.0.0.1";
    String host = own.contains(":") && !own.startsWith("[") ? "[" + own + "]" : own;
    if (http.tls() != null) {
      return Reachability.of(host, http.port()).problem().isEmpty();
    }
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + host + ":" + http.port() + "/")).build();
    CompletableFuture<HttpResponse<InputStream>> response =
        HttpClient.newHttpClient().sendAsync(request, HttpResponse.BodyHandlers.ofInputStream());
    try {
      return response
          .thenApplyAsync(ListenerExamination::isWelcome)
          .get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      response.cancel(true);
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static boolean isWelcome(HttpResponse<InputStream> response) {
    try (InputStream body = response.body()) {
      return new String(body.readNBytes(MAX_WELCOME), StandardCharsets.UTF_8)
          .contains("\"mcp-bridge\"");
    } catch (IOException e) {
      return false;
    }
  }
}
