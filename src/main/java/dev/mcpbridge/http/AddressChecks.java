package dev.mcpbridge.http;

import dev.mcpbridge.config.HttpConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.http.reply.MountPoint;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Checks the framing, the path, the Host and the Origin of a request before anything else. A Host
 * that is not one of ours, or an Origin that is neither the Host itself nor configured, is refused:
 * no web page can reach the bridge through a name of its own (DNS rebinding).
 */
final class AddressChecks {
  private static final CharSequence SEC_FETCH_SITE = HttpHeaders.createOptimized("sec-fetch-site");

  private static final Set<String> PAGES = Set.of("/", "/docs", "/console");

  private final Set<String> listenerHosts;
  private Set<String> hosts;
  private Set<String> corsOrigins;
  private String lastAcceptedHost;

  AddressChecks(HttpConfig config) {
    this.listenerHosts = listenerHosts(config);
    reload(config);
  }

  /** Replaces the configured names and origins. The listener's own names stay allowed. */
  void reload(HttpConfig config) {
    Set<String> all = new HashSet<>(listenerHosts);
    all.addAll(config.allowedHosts());
    hosts = Set.copyOf(all);
    corsOrigins = config.corsOrigins();
    lastAcceptedHost = null;
  }

  void check(RoutingContext ctx) {
    HttpServerRequest request = ctx.request();
    checkFraming(request);
    checkPath(request.uri().startsWith("/") ? request.path() : null);
    String path = MountPoint.path(ctx);
    checkQuery(request.query());
    checkHost(request);
    if (!path.startsWith(ProtectedResource.METADATA) && !Routes.needsNoCredential(path)) {
      checkOrigin(request, path);
    }
  }

  /** Conflicting lengths could make two parsers disagree (RFC 9112 sections 5.1 and 6.1). */
  private static void checkFraming(HttpServerRequest request) {
    MultiMap headers = request.headers();
    String expect = headers.get(HttpHeaders.EXPECT);
    if (expect != null && !expect.equalsIgnoreCase("100-continue")) {
      throw new BridgeException(
          ErrorCode.EXPECTATION_FAILED, "The Expect header must be 100-continue");
    }
    if (headers.contains("")) {
      throw malformed("A header has no name");
    }
    String coding = headers.get(HttpHeaders.TRANSFER_ENCODING);
    if (coding == null) {
      return;
    }
    boolean isSingle = headers.getAll(HttpHeaders.TRANSFER_ENCODING).size() == 1;
    if (!isSingle
        || !coding.equalsIgnoreCase("chunked")
        || request.version() == HttpVersion.HTTP_1_0) {
      throw malformed("Transfer-Encoding must be exactly 'chunked'");
    }
  }

  /** Refuses ambiguous paths. Paths are decoded once, later. */
  private static void checkPath(String path) {
    if (path == null || path.isEmpty() || path.charAt(0) != '/') {
      throw malformed("The request target must be an absolute path");
    }
    boolean trailing = path.length() > 1 && path.charAt(path.length() - 1) == '/';
    if (trailing || path.contains("//")) {
      throw new BridgeException(ErrorCode.NOT_FOUND, "No such resource");
    }
    if (path.indexOf('\\') >= 0 || path.contains("/.") && hasDotSegment(path)) {
      throw malformed("The path is ambiguous");
    }
    if (path.indexOf('%') >= 0) {
      checkEscapes(path);
    }
  }

  /** The router decodes the query of every path with parameters, and logs what it cannot decode. */
  private static void checkQuery(String query) {
    int at = query == null ? -1 : query.indexOf('%');
    for (; at >= 0; at = query.indexOf('%', at + 1)) {
      boolean isEscape =
          at + 2 < query.length()
              && Character.digit(query.charAt(at + 1), 16) >= 0
              && Character.digit(query.charAt(at + 2), 16) >= 0;
      if (!isEscape) {
        throw malformed("The query contains an invalid percent escape");
      }
    }
  }

  private static boolean hasDotSegment(String path) {
    return Stream.of(path.split("/")).anyMatch(Set.of(".", "..")::contains);
  }

  private static void checkEscapes(String path) {
    for (int i = path.indexOf('%'); i >= 0; i = path.indexOf('%', i + 1)) {
      int high = i + 2 < path.length() ? Character.digit(path.charAt(i + 1), 16) : -1;
      int low = i + 2 < path.length() ? Character.digit(path.charAt(i + 2), 16) : -1;
      if (high < 0 || low < 0 || high == 0 && low == 0) {
        throw malformed("The path contains an invalid percent escape");
      }
    }
    if (hasDotSegment(path.replaceAll("%2[eE]", "."))) {
      throw malformed("The path is ambiguous");
    }
  }

  /** Over HTTP/2 the host is that of {@code :authority} (RFC 9113 section 8.3.1). */
  private void checkHost(HttpServerRequest request) {
    List<String> all = request.headers().getAll(HttpHeaders.HOST);
    if (all.size() == 1 && all.get(0).equals(lastAcceptedHost)) {
      return;
    }
    HostAndPort authority = authority(request, all);
    if (authority == null || authority.host().isEmpty()) {
      throw malformed("The request must have exactly one valid Host header");
    }
    if (!hosts.contains(authority.host().toLowerCase(Locale.ROOT))) {
      throw new BridgeException(
          ErrorCode.HOST_NOT_ALLOWED, "The Host is not allowed; add it to http.hosts");
    }
    if (!all.isEmpty()) {
      lastAcceptedHost = all.get(0);
    }
  }

  /** Null if the request names none, or more than one. */
  private static HostAndPort authority(HttpServerRequest request, List<String> hosts) {
    HostAndPort authority = request.authority();
    boolean isMultiplexed = request.version() == HttpVersion.HTTP_2;
    boolean isSame =
        authority != null && hosts.stream().allMatch(host -> host.equals(authority.toString()));
    boolean isSingle = isMultiplexed ? isSame : hosts.size() == 1;
    return isSingle ? authority : null;
  }

  private void checkOrigin(HttpServerRequest request, String path) {
    MultiMap headers = request.headers();
    String origin = headers.get(HttpHeaders.ORIGIN);
    if (origin == null) {
      checkFetch(path, headers);
      return;
    }
    String host = headers.get(HttpHeaders.HOST);
    String own =
        (request.isSSL() ? "https://" : "http://") + (host == null ? request.authority() : host);
    boolean isSingle = headers.getAll(HttpHeaders.ORIGIN).size() == 1;
    if (!isSingle || !origin.equalsIgnoreCase(own) && !isConfigured(origin)) {
      throw new BridgeException(
          ErrorCode.ORIGIN_NOT_ALLOWED, "The Origin is not allowed; add it to http.cors.origins");
    }
  }

  /**
   * A resource embedded by a page of another site is requested without an Origin (Fetch Metadata,
   * W3C). Links to the bridge's pages may be followed from anywhere.
   */
  private static void checkFetch(String path, MultiMap headers) {
    String site = headers.get(SEC_FETCH_SITE);
    if (site == null || !site.equals("cross-site") && !site.equals("same-site")) {
      return;
    }
    boolean isNavigation = "navigate".equals(headers.get("sec-fetch-mode"));
    if (!isNavigation || !PAGES.contains(path)) {
      throw new BridgeException(
          ErrorCode.ORIGIN_NOT_ALLOWED, "Pages of other sites may not embed this resource");
    }
  }

  boolean isConfigured(String origin) {
    return origin != null && corsOrigins.contains(origin.toLowerCase(Locale.ROOT));
  }

  /** The names of the listener: those of loopback and its own address. */
  private static Set<String> listenerHosts(HttpConfig config) {
    Set<String> hosts = new HashSet<>(Set.of("localhost", "127.0.0.1", "[::1]", "::1"));
    hosts.add(config.host().toLowerCase(Locale.ROOT));
    if (!config.isLoopback()) {
      hosts.addAll(machineNames());
    }
    return Set.copyOf(hosts);
  }

  /** The host name and addresses of this machine, for a listener that other machines can reach. */
  private static Set<String> machineNames() {
    Set<String> names = new HashSet<>();
    try {
      names.add(InetAddress.getLocalHost().getHostName().toLowerCase(Locale.ROOT));
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .map(address -> address.getHostAddress().replaceAll("%.*", ""))
          .forEach(text -> names.addAll(List.of(text, "[" + text + "]")));
    } catch (SocketException | UnknownHostException e) {
      return names;
    }
    return names;
  }

  private static BridgeException malformed(String detail) {
    return new BridgeException(ErrorCode.MALFORMED_REQUEST, detail);
  }
}
