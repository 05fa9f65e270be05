package dev.mcpbridge.cli.login;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.config.StateFolder;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The logins of this user, by the URL of the bridge, in a file that only the user may read. */
public final class Logins {
  private final Path file;

  Logins(Path file) {
    this.file = file;
  }

  /** Those in the state folder of the user. */
  public static Logins ofUser() {
    return new Logins(StateFolder.of(System.getenv()).resolve("logins.json"));
  }

  /**
   * The access token for a bridge, renewed if it is about to expire; empty without a login. Only
   * one process renews it at a time, since a refresh token may be valid once.
   *
   * @param bridge its URL without a trailing slash
   * @throws BridgeException UNAUTHENTICATED if the login has ended
   */
  public Optional<String> token(String bridge) {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    Optional<Login> known = find(bridge);
    return known.isEmpty() || known.get().isFresh()
        ? known.map(Login::access)
        : locked(() -> Optional.of(renewed(bridge).access()));
  }

  /**
   * A wish to log in.
   *
   * @param clientId empty to register a client
   * @param clientSecret null for none
   * @param scopes empty for those that the bridge publishes
   * @param port of the loopback interface for the answer; 0 for any
   */
  public record Request(String clientId, String clientSecret, List<String> scopes, int port) {}

  /**
   * Logs in, in a browser that this user opens.
   *
   * @param onOtherMachine whether the browser runs on another machine
   * @param show shows a line to the user
   */
  public void begin(String bridge, Request request, boolean onOtherMachine, Consumer<String> show)
      throws InterruptedException, IOException {
    IssuerRequests requests = new IssuerRequests();
    BridgeIssuer issuer = BridgeIssuer.of(bridge, requests);
    String scope = issuer.scope(request.scopes());
    if (onOtherMachine) {
      Login.Client client = client(request, issuer, requests, null);
      put(bridge, DeviceLogin.run(issuer, client, scope, requests, show));
      return;
    }
    try (BrowserLogin browser = new BrowserLogin(request.port())) {
      Login.Client client = client(request, issuer, requests, browser.redirectUri());
      Consumer<String> open = url -> show.accept("Open this address in your browser:\n" + url);
      put(bridge, browser.run(issuer, client, scope, requests, open));
    }
  }

  private static Login.Client client(
      Request request, BridgeIssuer issuer, IssuerRequests requests, String redirectUri)
      throws InterruptedException {
    return request.clientId().isEmpty()
        ? issuer.register(requests, redirectUri)
        : new Login.Client(request.clientId(), request.clientSecret());
  }

  private void put(String bridge, Login login) {
    locked(
        () -> {
          ObjectNode all = read();
          all.set(bridge, login.json());
          PrivateFile.replace(file, all.toString());
          return login;
        });
  }

  /**
   * Removes a login, and revokes its tokens if that is possible (RFC 7009); whether there was one.
   */
  public boolean end(String bridge) throws InterruptedException {
    Optional<Login> login = find(bridge);
    locked(
        () -> {
          ObjectNode all = read();
          all.remove(bridge);
          PrivateFile.replace(file, all.toString());
          return login;
        });
    if (login.isPresent() && login.get().revocationEndpoint() != null) {
      Map<String, String> form = login.get().client().form(null);
      boolean isRefreshable = login.get().refresh() != null;
      form.put("token", isRefreshable ? login.get().refresh() : login.get().access());
      new IssuerRequests().post(login.get().revocationEndpoint(), form);
    }
    return login.isPresent();
  }

  private Optional<Login> find(String bridge) {
    try {
      return Optional.ofNullable(read().get(bridge)).map(Login::of);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Another process may have renewed it meanwhile. */
  private Login renewed(String bridge) throws IOException, InterruptedException {
    Login login =
        find(bridge).orElseThrow(() -> IssuerRequests.refused("The login at " + bridge + " ended"));
    if (login.isFresh()) {
      return login;
    }
    Login renewed = login.refresh() == null ? null : refresh(login);
    if (renewed == null) {
      throw IssuerRequests.refused("The login has ended: run mcp-bridge login --url " + bridge);
    }
    ObjectNode all = read();
    all.set(bridge, renewed.json());
    PrivateFile.replace(file, all.toString());
    return renewed;
  }

  /** Null if the refresh token is no longer accepted. */
  private Login refresh(Login login) throws InterruptedException {
    Map<String, String> form = login.client().form("refresh_token");
    form.put("refresh_token", login.refresh());
    form.put("resource", login.resource());
    IssuerRequests.Response tokens = new IssuerRequests().post(login.tokenEndpoint(), form);
    if (tokens.ok() && tokens.body().path("access_token").isTextual()) {
      return login.with(tokens.body());
    }
    if (tokens.status() >= 500) {
      throw new BridgeException(
          ErrorCode.ISSUER_UNAVAILABLE, "The login cannot be renewed now: " + tokens.reason());
    }
    return null;
  }

  private ObjectNode read() throws IOException {
    return Files.exists(file) && Json.tree(Files.readAllBytes(file)) instanceof ObjectNode all
        ? all
        : Json.object();
  }

  private BridgeException unusable(IOException failure) {
    return new BridgeException(
        ErrorCode.INTERNAL, file + " cannot be used: " + failure.getMessage());
  }

  private interface Step<T> {
    T run() throws IOException, InterruptedException;
  }

  /** Runs a step that no other thread or process runs at the same time. */
  private <T> T locked(Step<T> step) {
    synchronized (Logins.class) {
      try {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Path lock = file.resolveSibling(file.getFileName() + ".lock");
        try (FileChannel channel =
            FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
          channel.lock();
          return step.run();
        }
      } catch (IOException e) {
        throw unusable(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw IssuerRequests.refused("interrupted");
      }
    }
  }
}
