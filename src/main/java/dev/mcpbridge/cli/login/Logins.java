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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The logins of this user, by the URL of the bridge, in a file that only the user may read. */
public final class Logins {
  private static final long LOCK_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long LOCK_POLL_MILLIS = 20;

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
   * @param issuer that the bridge has to name; empty for any
   * @param clientId empty to register a client
   * @param clientSecret null for none
   * @param scopes empty for those that the bridge publishes
   * @param port of the loopback interface for the answer; 0 for any
   */
  public record Request(
      String issuer, String clientId, String clientSecret, List<String> scopes, int port) {}

  /**
   * Logs in, in a browser that this user opens.
   *
   * @param onOtherMachine whether the browser runs on another machine
   * @param show shows a line to the user
   */
  public void begin(String bridge, Request request, boolean onOtherMachine, Consumer<String> show)
      throws InterruptedException {
    if (request.clientSecret() != null && request.issuer().isEmpty()) {
      throw IssuerRequests.refused("A client secret needs --issuer: who gets the secret");
    }
    IssuerRequests requests = new IssuerRequests();
    BridgeIssuer issuer = BridgeIssuer.of(bridge, request.issuer(), requests);
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
        : issuer.client(request.clientId(), request.clientSecret());
  }

  /** Stores a login; one that it replaces is revoked. */
  private void put(String bridge, Login login) throws InterruptedException {
    Optional<Login> replaced = replace(bridge, login);
    if (replaced.isPresent()) {
      revoked(replaced.get());
    }
  }

  /**
   * The end of a login.
   *
   * @param isRevoked whether its issuer says that its tokens are no longer accepted
   */
  public record Ended(boolean wasLoggedIn, boolean isRevoked) {}

  /** Removes a login, and revokes its tokens if that is possible (RFC 7009). */
  public Ended end(String bridge) throws InterruptedException {
    Optional<Login> login = replace(bridge, null);
    return new Ended(login.isPresent(), login.isPresent() && revoked(login.get()));
  }

  /** Stores a login, or removes it; returns the one before. */
  private Optional<Login> replace(String bridge, Login login) {
    return locked(
        () -> {
          Optional<Login> before = find(bridge);
          ObjectNode all = read();
          if (login == null) {
            all.remove(bridge);
          } else {
            all.set(bridge, login.json());
          }
          PrivateFile.replace(file, all.toString());
          return before;
        });
  }

  private static boolean revoked(Login login) throws InterruptedException {
    if (login.revocationEndpoint() == null) {
      return false;
    }
    Map<String, String> form = login.client().form(null);
    form.put("token", login.refresh() != null ? login.refresh() : login.access());
    try {
      return new IssuerRequests().post(login.revocationEndpoint(), login.client(), form).status()
          == 200;
    } catch (BridgeException unreachable) {
      return false;
    }
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
    Login renewed = refresh(bridge, login);
    ObjectNode all = read();
    all.set(bridge, renewed.json());
    PrivateFile.replace(file, all.toString());
    return renewed;
  }

  private static Login refresh(String bridge, Login login) throws InterruptedException {
    if (login.refresh() == null) {
      throw ended(bridge, "its token has expired");
    }
    Map<String, String> form = login.client().form("refresh_token");
    form.put("refresh_token", login.refresh());
    form.put("resource", login.resource());
    IssuerRequests.Response answer =
        new IssuerRequests().post(login.tokenEndpoint(), login.client(), form);
    if (answer.hasToken()) {
      return login.with(answer.body());
    }
    throw answer.error().equals("invalid_grant")
        ? ended(bridge, answer.reason())
        : new BridgeException(
            ErrorCode.ISSUER_UNAVAILABLE, "The login cannot be renewed now: " + answer.reason());
  }

  private static BridgeException ended(String bridge, String why) {
    return IssuerRequests.refused(
        "The login has ended (%s): run mcp-bridge login --url %s".formatted(why, bridge));
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
      Path lock = file.resolveSibling(file.getFileName() + ".lock");
      try (FileChannel channel = PrivateFile.open(lock)) {
        awaitLock(channel);
        return step.run();
      } catch (IOException e) {
        throw unusable(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw IssuerRequests.refused("interrupted");
      }
    }
  }

  /** The lock ends with the channel. */
  private static void awaitLock(FileChannel channel) throws IOException, InterruptedException {
    long end = System.nanoTime() + LOCK_PATIENCE_NANOS;
    while (channel.tryLock() == null) {
      if (System.nanoTime() - end > 0) {
        throw new IOException("another process has locked it for too long");
      }
      TimeUnit.MILLISECONDS.sleep(LOCK_POLL_MILLIS);
    }
  }
}
