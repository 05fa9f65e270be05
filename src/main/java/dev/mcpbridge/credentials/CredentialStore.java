package dev.mcpbridge.credentials;

import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SharedMap;
import dev.mcpbridge.cluster.SharedMap.Change;
import dev.mcpbridge.cluster.SharedMap.Eviction;
import dev.mcpbridge.cluster.SharedMap.Item;
import dev.mcpbridge.config.CredentialsConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Named secrets in a shared map, sealed so that neither a heap dump nor a file contains them in
 * plain text. The name is authenticated with its secret: a record that is moved to another name
 * cannot be opened. Confined to the event loop.
 */
public final class CredentialStore {
  private static final Logger LOG = System.getLogger(CredentialStore.class.getName());

  private static final String MAP = "credentials";

  private final SealingKeys keys;
  private final SharedMap map;
  private boolean hasWarned;

  /**
   * A secret and the version of its entry.
   *
   * @param text null if absent
   */
  public record Secret(String text, long version) {
    public boolean isPresent() {
      return text != null;
    }
  }

  CredentialStore(SealingKeys keys, SharedMap map) {
    this.keys = keys;
    this.map = map;
  }

  /** The store of a bridge; several objects may use it. */
  public static CredentialStore of(CredentialsConfig config, Cluster cluster) {
    return new CredentialStore(SealingKeys.of(config, cluster.key(MAP)), cluster.map(MAP));
  }

  /** A store of what is secret for some minutes only, and never in a file. */
  public static CredentialStore ofConsents(Cluster cluster) {
    return new CredentialStore(SealingKeys.own(cluster.key("consents")), cluster.map("consents"));
  }

  /** The file of a single node, which keeps what the store holds. */
  public static CredentialFile file(
      Vertx vertx, CredentialsConfig config, Cluster cluster, Path file) {
    return new CredentialFile(
        vertx, cluster.map(MAP), SealingKeys.of(config, cluster.key(MAP)), file);
  }

  /** A secret as this node knows it. */
  public Secret known(String name) {
    return opened(name, map.cached(name));
  }

  /** A secret; linearizable. */
  public Future<Secret> get(String name) {
    return map.get(name).map(item -> opened(name, item));
  }

  /** The names with a prefix, as this node knows them. */
  public List<String> names(String prefix) {
    return List.copyOf(map.startingWith(prefix).keySet());
  }

  /**
   * Stores a secret if the version of its entry is the expected one.
   *
   * @return false if it is not
   */
  public Future<Boolean> put(String name, long expected, String text, long millis) {
    byte[] sealed = keys.seal(name, text.getBytes(StandardCharsets.UTF_8));
    return map.put(name, expected, sealed, millis, Eviction.NEVER)
        .compose(
            change ->
                change.isFull()
                    ? Future.failedFuture(
                        new BridgeException(
                            ErrorCode.OVERLOADED, "Too many credentials are stored"))
                    : Future.succeededFuture(change.isDone()));
  }

  /** Stores a secret in place of any other. Fails with OVERLOADED if there is no room. */
  public Future<Void> put(String name, String text, long millis) {
    return put(name, map.cached(name).version(), text, millis)
        .compose(
            isStored ->
                isStored
                    ? Future.succeededFuture()
                    : map.get(name).compose(read -> put(name, text, millis)));
  }

  /** Removes a secret if the version of its entry is the expected one. */
  public Future<Boolean> remove(String name, long expected) {
    return map.remove(name, expected).map(Change::isDone);
  }

  public Future<Void> remove(String name) {
    return map.remove(name);
  }

  private Secret opened(String name, Item item) {
    if (!item.isPresent()) {
      return new Secret(null, item.version());
    }
    byte[] text = keys.open(name, item.value());
    if (text == null && !hasWarned) {
      hasWarned = true;
      LOG.log(Level.WARNING, "a stored credential cannot be opened with the keys of this bridge");
    }
    return new Secret(
        text == null ? null : new String(text, StandardCharsets.UTF_8), item.version());
  }
}
