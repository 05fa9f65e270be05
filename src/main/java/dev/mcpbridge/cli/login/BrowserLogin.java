package dev.mcpbridge.cli.login;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.mcpbridge.auth.Pkce;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A login in the browser of this machine: an authorization code with PKCE, which comes back to a
 * port of the loopback interface (RFC 8252 section 7.3).
 */
final class BrowserLogin implements AutoCloseable {
  private static final long PATIENCE_MINUTES = 10;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final String state = Pkce.random();
  private final CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();

  /**
   * @param port 0 for any
   */
  BrowserLogin(int port) {
    try {
      server =
          HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 0);
    } catch (IOException | IllegalArgumentException e) {
      throw IssuerRequests.refused("Port " + port + " cannot be used: " + e.getMessage());
    }
    server.setExecutor(threads);
    server.createContext("/callback", this::receive);
    server.start();
  }

  String redirectUri() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/callback";
  }

  /**
   * @param browser opens a URL, or shows it
   */
  Login run(
      BridgeIssuer issuer,
      Login.Client client,
      String scope,
      IssuerRequests requests,
      Consumer<String> browser)
      throws InterruptedException {
    if (!issuer.supports("code_challenge_methods_supported", "S256")) {
      throw IssuerRequests.refused(
          "The issuer " + issuer.issuer() + " does not support PKCE with S256");
    }
    String verifier = Pkce.random();
    Map<String, String> query = new LinkedHashMap<>();
    query.put("response_type", "code");
    query.put("client_id", client.id());
    query.put("redirect_uri", redirectUri());
    query.put("scope", scope);
    query.put("resource", issuer.resource());
    query.put("state", state);
    query.put("code_challenge", Pkce.challenge(verifier));
    query.put("code_challenge_method", "S256");
    if (scope.contains("offline_access")) {
      query.put("prompt", "consent");
    }
    String endpoint = issuer.endpoint("authorization_endpoint");
    browser.accept(endpoint + (endpoint.contains("?") ? "&" : "?") + IssuerRequests.encoded(query));
    Map<String, String> form = client.form("authorization_code");
    form.put("code", code(issuer));
    form.put("redirect_uri", redirectUri());
    form.put("code_verifier", verifier);
    form.put("resource", issuer.resource());
    IssuerRequests.Response tokens = requests.post(issuer.endpoint("token_endpoint"), client, form);
    if (!tokens.hasToken()) {
      throw IssuerRequests.refused("The issuer gave no token: " + tokens.reason());
    }
    return Login.of(issuer, client, tokens.body());
  }

  /** The code of the answer, whose issuer is checked first (RFC 9207 section 2.4). */
  private String code(BridgeIssuer issuer) throws InterruptedException {
    Map<String, String> parameters;
    try {
      parameters = answer.get(PATIENCE_MINUTES, TimeUnit.MINUTES);
    } catch (TimeoutException | ExecutionException e) {
      throw IssuerRequests.refused("No login within " + PATIENCE_MINUTES + " minutes");
    }
    String named = parameters.get("iss");
    if (named == null ? issuer.namesItself() : !named.equals(issuer.issuer())) {
      throw IssuerRequests.refused("The answer does not come from " + issuer.issuer());
    }
    if (!parameters.containsKey("code")) {
      throw IssuerRequests.refused(
          "The login was refused: "
              + IssuerRequests.printable(parameters.getOrDefault("error", "no reason")));
    }
    return parameters.get("code");
  }

  /** Answers with the state of another login are not for this one. */
  private void receive(HttpExchange exchange) throws IOException {
    Map<String, String> parameters = parameters(exchange.getRequestURI());
    boolean isOurs = state.equals(parameters.get("state"));
    String text =
        isOurs
            ? "The login is complete, or its error is in the terminal. You can close this window.\n"
            : "This is not the login that is in progress.\n";
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.getResponseHeaders().set("Cache-Control", "no-store");
    try (exchange) {
      exchange.sendResponseHeaders(isOurs ? 200 : 400, body.length);
      exchange.getResponseBody().write(body);
    } finally {
      if (isOurs) {
        answer.complete(parameters);
      }
    }
  }

  private static Map<String, String> parameters(URI uri) {
    Map<String, String> parameters = new HashMap<>();
    for (String pair : String.valueOf(uri.getRawQuery()).split("&")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        parameters.put(
            pair.substring(0, equals),
            URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
      }
    }
    return parameters;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
