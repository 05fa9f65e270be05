package dev.mcpbridge.cli.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/**
 * Whether something answers at an address, and how far its clock is from the one of this machine.
 * No request has a credential or does anything.
 *
 * @param problem empty if it was reached
 * @param skew empty if it has not told its time
 */
record Reachability(Optional<String> problem, Optional<Duration> skew) {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** What a {@code Date} header, which has no fractions of a second, can be off. */
  private static final Duration TOLERANCE = Duration.ofSeconds(30);

  /** Connects. */
  static Reachability of(String host, int port) {
    if (host == null) {
      return unreachable("the URL has no valid host name");
    }
    String plain = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    try (Socket socket = new Socket()) {
      InetAddress address = InetAddress.getByName(plain);
      socket.connect(new InetSocketAddress(address, port), (int) TIMEOUT.toMillis());
      return new Reachability(Optional.empty(), Optional.empty());
    } catch (UnknownHostException e) {
      return unreachable("the name " + host + " is unknown");
    } catch (IOException e) {
      return unreachable(host + ":" + port + " cannot be connected: " + e.getMessage());
    }
  }

  /** Connects, and asks for the head of an HTTP resource. */
  static Reachability ofHttp(URI url) {
    if (url.getHost() == null) {
      return unreachable("the URL has no valid host name");
    }
    Reachability connected = of(url.getHost(), port(url));
    if (connected.problem.isPresent()) {
      return connected;
    }
    HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
    HttpRequest head =
        HttpRequest.newBuilder(url)
            .timeout(TIMEOUT)
            .method("HEAD", HttpRequest.BodyPublishers.noBody())
            .build();
    try {
      HttpResponse<Void> response = client.send(head, HttpResponse.BodyHandlers.discarding());
      return new Reachability(
          Optional.empty(), response.headers().firstValue("date").flatMap(Reachability::skew));
    } catch (IOException e) {
      return unreachable(name(url) + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return unreachable("was not waited for");
    }
  }

  /** Scheme, host and port of a URL, which may also have a user. */
  static String name(URI url) {
    return url.getScheme() + "://" + url.getHost() + ":" + port(url);
  }

  static int port(URI url) {
    boolean isSecure = url.getScheme().equals("https") || url.getScheme().equals("grpcs");
    return url.getPort() != -1 ? url.getPort() : isSecure ? 443 : 80;
  }

  private static Optional<Duration> skew(String date) {
    try {
      Instant theirs = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return Optional.of(Duration.between(Instant.now(), theirs));
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  private static Reachability unreachable(String problem) {
    return new Reachability(Optional.of(problem), Optional.empty());
  }

  /** Whether the clocks differ by more than tokens and certificates bear. */
  boolean hasOtherTime() {
    return skew.isPresent() && skew.get().abs().compareTo(TOLERANCE) > 0;
  }
}
