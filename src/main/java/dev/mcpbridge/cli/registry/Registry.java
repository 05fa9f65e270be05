package dev.mcpbridge.cli.registry;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.PercentEncoding;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A registry of MCP servers: at a URL, by the registry API (2025-12-01, {@code /v0.1}), or a file
 * with one {@code server.json} or an answer of that API. What it says is not trusted. Blocks.
 */
public final class Registry {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int MAX_BYTES = 4 << 20;
  private static final String LATEST = "latest";

  private final String location;

  /** Null for a file. */
  private final URI url;

  private final Duration timeout;

  private Registry(String location, URI url, Duration timeout) {
    this.location = location;
    this.url = url;
    this.timeout = timeout;
  }

  /**
   * @param location an HTTPS URL, an HTTP URL of this machine, or the path of a file
   * @throws BridgeException MALFORMED_REQUEST for another URL
   */
  public static Registry at(String location) {
    return at(location, TIMEOUT);
  }

  /**
   * @param timeout for a whole answer
   */
  public static Registry at(String location, Duration timeout) {
    if (!location.matches("(?i)[a-z][a-z0-9+.-]+://.*")) {
      return new Registry(location, null, timeout);
    }
    try {
      URI url = URI.create(location.replaceFirst("/+$", ""));
      boolean isSafe =
          "https".equalsIgnoreCase(url.getScheme())
              || "http".equalsIgnoreCase(url.getScheme())
                  && InetAddress.getByName(url.getHost()).isLoopbackAddress();
      if (url.getHost() != null && isSafe) {
        return new Registry(location, url, timeout);
      }
    } catch (IllegalArgumentException | IOException e) {
      // refused below
    }
    throw new BridgeException(
        ErrorCode.MALFORMED_REQUEST,
        location + " is no registry: use an https URL, or the path of a file");
  }

  /** The servers whose name or description contains some words, in the order of the registry. */
  public List<RegistryServer> search(String words, int limit) {
    JsonNode found =
        url == null
            ? file()
            : get("/v0.1/servers?version=latest&limit=" + limit + "&search=" + encoded(words))
                .orElseThrow(() -> failed("has no list of servers"));
    List<RegistryServer> servers = servers(found);
    return servers.stream()
        .filter(server -> url != null || server.mentions(words))
        .limit(limit)
        .toList();
  }

  /**
   * One version of a server.
   *
   * @param version null for the latest one
   */
  public RegistryServer find(String name, String version) {
    Optional<RegistryServer> found =
        url == null
            ? servers(file()).stream()
                .filter(each -> each.name().equals(name))
                .filter(each -> version == null || each.version().equals(version))
                .findFirst()
            : get("/v0.1/servers/"
                    + encoded(name)
                    + "/versions/"
                    + encoded(version == null ? LATEST : version))
                .map(RegistryServer::of);
    RegistryServer server =
        found.orElseThrow(
            () ->
                failed(
                    "has no server '"
                        + name
                        + (version == null ? "'" : "' of version " + version)
                        + "; names are found with: mcp-bridge search"));
    if (!server.name().equals(name) || version != null && !server.version().equals(version)) {
      throw failed("answered with another server: " + server.name() + " " + server.version());
    }
    return server;
  }

  private static List<RegistryServer> servers(JsonNode answer) {
    List<RegistryServer> servers = new ArrayList<>();
    if (answer.path("servers").isArray()) {
      answer.path("servers").forEach(each -> servers.add(RegistryServer.of(each)));
    } else {
      servers.add(RegistryServer.of(answer));
    }
    return servers;
  }

  private JsonNode file() {
    try (InputStream in = Files.newInputStream(Path.of(location))) {
      return read(in);
    } catch (IOException e) {
      throw failed("cannot be read");
    }
  }

  /** Empty if there is no such thing. */
  private Optional<JsonNode> get(String path) {
    HttpClient client = HttpClient.newBuilder().connectTimeout(timeout).build();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + path)).header("accept", "application/json").build();
    CompletableFuture<HttpResponse<InputStream>> response =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream());
    try {
      return response.thenApplyAsync(this::answer).get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      response.thenAccept(late -> close(late.body()));
      response.cancel(true);
      throw failed("did not answer within " + timeout.toMillis() + " ms");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof BridgeException refused) {
        throw refused;
      }
      throw failed("does not answer: " + e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed("was not waited for");
    }
  }

  private Optional<JsonNode> answer(HttpResponse<InputStream> response) {
    try (InputStream body = response.body()) {
      if (response.statusCode() == 404) {
        return Optional.empty();
      }
      if (response.statusCode() != 200) {
        throw failed("answered " + response.statusCode());
      }
      return Optional.of(read(body));
    } catch (IOException e) {
      throw failed("does not answer: " + e);
    }
  }

  private static void close(InputStream body) {
    try {
      body.close();
    } catch (IOException e) {
      // its connection is gone
    }
  }

  private JsonNode read(InputStream in) throws IOException {
    byte[] bytes = in.readNBytes(MAX_BYTES + 1);
    if (bytes.length > MAX_BYTES) {
      throw failed("answered with more than " + MAX_BYTES + " bytes");
    }
    try {
      JsonNode read = Json.tree(bytes);
      if (read.isObject()) {
        return read;
      }
    } catch (JsonProcessingException e) {
      // refused below
    }
    throw failed("is not in the format of a registry: expected a JSON object");
  }

  private BridgeException failed(String what) {
    return new BridgeException(ErrorCode.UPSTREAM_ERROR, "The registry " + location + " " + what);
  }

  private static String encoded(String text) {
    return PercentEncoding.encoded(text);
  }
}
