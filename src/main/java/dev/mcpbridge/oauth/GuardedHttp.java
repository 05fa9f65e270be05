package dev.mcpbridge.oauth;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.auth.JsonRequests;
import dev.mcpbridge.config.OAuthConfig;
import dev.mcpbridge.limit.TimeLimit;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.client.HttpRequest;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;

/**
 * Requests to URLs that a server or its authorization server names, for JSON of at most 256 KiB
 * within five seconds, without redirects. Such a URL must be https, and its host have public
 * addresses only; the request goes to the address that was checked, so that the name cannot get
 * another one meanwhile. What the operator has configured is trusted. Confined to the event loop.
 */
final class GuardedHttp {
  private static final int MAX_BYTES = 256 << 10;
  private static final int MAX_URL = 2_048;

  private final Vertx vertx;
  private final boolean allowsLoopback;
  private final Set<String> trustedOrigins = new HashSet<>();
  private final JsonRequests requests;

  /** An answer with any status; its body is JSON. */
  record Answer(int status, JsonNode json) {}

  /**
   * @param server the URL of the server; null if it is not configured
   */
  GuardedHttp(Vertx vertx, URI server, OAuthConfig config) {
    this.vertx = vertx;
    this.allowsLoopback = config.reach().allowsLoopback();
    if (server != null) {
      trustedOrigins.add(origin(server));
    }
    config.issuers().forEach(issuer -> trustedOrigins.add(origin(URI.create(issuer))));
    if (config.endpoints().authorization() != null) {
      trustedOrigins.add(origin(config.endpoints().authorization()));
    }
    if (config.endpoints().token() != null) {
      trustedOrigins.add(origin(config.endpoints().token()));
    }
    if (config.endpoints().identityProvider() != null) {
      trustedOrigins.add(origin(config.endpoints().identityProvider().tokenEndpoint()));
    }
    this.requests = new JsonRequests(vertx, MAX_BYTES, config.reach().trustedCertificates());
  }

  Future<Answer> get(String url) {
    return exchange(HttpMethod.GET, url, HttpRequest::send);
  }

  Future<Answer> postJson(String url, JsonNode body) {
    Buffer json = Buffer.buffer(body.toString());
    return exchange(
        HttpMethod.POST,
        url,
        request -> request.putHeader("content-type", "application/json").sendBuffer(json));
  }

  /**
   * @param authorization value of Authorization; null for none
   */
  Future<Answer> postForm(String url, MultiMap form, String authorization) {
    return exchange(
        HttpMethod.POST,
        url,
        request ->
            (authorization == null ? request : request.putHeader("authorization", authorization))
                .sendForm(form));
  }

  /** Scheme, host and port of a URL in lower case. */
  static String origin(URI url) {
    int defaultPort = "https".equalsIgnoreCase(url.getScheme()) ? 443 : 80;
    int port = url.getPort() < 0 ? defaultPort : url.getPort();
    return (url.getScheme() + "://" + url.getHost() + ":" + port).toLowerCase(Locale.ROOT);
  }

  /**
   * A URL that may be requested or shown to a browser.
   *
   * @throws IOException without the text of the URL, which comes from others
   */
  URI permitted(String text) throws IOException {
    URI url = parsed(text);
    boolean isTls = "https".equalsIgnoreCase(url.getScheme());
    boolean isPlain = "http".equalsIgnoreCase(url.getScheme());
    boolean isLocal = isPlain && allowsLoopback && isLoopbackName(url.getHost());
    if (!isTls && !isLocal && !(isPlain && isTrusted(url))) {
      throw new IOException("a URL at " + url.getHost() + " is not https");
    }
    return url;
  }

  private static URI parsed(String text) throws IOException {
    try {
      URI url = new URI(text.length() > MAX_URL ? "" : text);
      if (url.getHost() != null && url.getUserInfo() == null && url.getFragment() == null) {
        return url;
      }
    } catch (URISyntaxException e) {
      // reported below
    }
    throw new IOException("a URL is not valid");
  }

  private boolean isTrusted(URI url) {
    return trustedOrigins.contains(origin(url));
  }

  private static boolean isLoopbackName(String host) {
    return host.equalsIgnoreCase("localhost")
        || host.matches("127\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}")
        || host.equals("[::1]");
  }

  private Future<Answer> exchange(
      HttpMethod method,
      String text,
      Function<HttpRequest<JsonNode>, Future<HttpResponse<JsonNode>>> send) {
    URI url;
    try {
      url = permitted(text);
    } catch (IOException refused) {
      return Future.failedFuture(refused);
    }
    return TimeLimit.of(JsonRequests.TIMEOUT_MILLIS, address(url))
        .compose(
            address ->
                requests.exchange(client -> request(client, method, address, url.toString()), send))
        .map(response -> new Answer(response.statusCode(), response.body()))
        .recover(failure -> Future.failedFuture(about(url, failure)));
  }

  private static HttpRequest<Buffer> request(
      WebClient client, HttpMethod method, SocketAddress address, String url) {
    return address == null
        ? client.requestAbs(method, url)
        : client.requestAbs(method, address, url);
  }

  private static IOException about(URI url, Throwable failure) {
    return new IOException(url.getHost() + ": " + failure.getMessage());
  }

  /** The checked address of a host; null for one that the operator trusts. */
  private Future<SocketAddress> address(URI url) {
    if (isTrusted(url)) {
      return Future.succeededFuture();
    }
    int defaultPort = url.getScheme().equalsIgnoreCase("https") ? 443 : 80;
    int port = url.getPort() < 0 ? defaultPort : url.getPort();
    String host = url.getHost().replaceAll("[\\[\\]]", "");
    return vertx
        .executeBlocking(() -> InetAddress.getAllByName(host), false)
        .compose(
            addresses ->
                Arrays.stream(addresses).allMatch(this::isReachable)
                    ? Future.succeededFuture(
                        SocketAddress.inetSocketAddress(port, addresses[0].getHostAddress()))
                    : Future.failedFuture(new UnknownHostException("its address is not public")));
  }

  private boolean isReachable(InetAddress address) {
    return PublicAddresses.contains(address) || allowsLoopback && address.isLoopbackAddress();
  }
}
