package dev.mcpbridge.config;

import dev.mcpbridge.protocol.PercentEncoding;
import dev.mcpbridge.protocol.RandomIds;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The shared secret of a user's nodes, for configurations without a secret. The first node to start
 * creates it in a file that only this user can read. Blocks; may be called from any thread and by
 * several processes at once.
 */
public final class ClusterSecret {
  static final int MIN_LENGTH = 16;

  private static final Logger LOG = System.getLogger(ClusterSecret.class.getName());
  private static final int RANDOM_BYTES = 32;
  private static final String FOLDER_MODE = "rwx------";
  private static final String FILE_MODE = "rw-------";

  private ClusterSecret() {}

  /**
   * Returns the configuration, with this user's secret if it has none.
   *
   * @param state the state folder of the user's bridges
   * @throws IOException if the secret cannot be stored or read, or other users can access it
   */
  public static ClusterConfig withUserSecret(ClusterConfig config, Path state) throws IOException {
    if (!config.secret().isEmpty()) {
      return config;
    }
    Path file =
        state.resolve("cluster").resolve(PercentEncoding.encoded(config.name()) + ".secret");
    try {
      String secret = read(file);
      LOG.log(
          Level.INFO,
          "cluster.secret is not set: using the secret in {0}, shared by all nodes of this user;"
              + " for nodes of other users set cluster.secret to the same value on all nodes",
          file);
      return config.withSecret(secret);
    } catch (IOException | UnsupportedOperationException e) {
      String prefix = e instanceof AccessDeniedException ? "no access to " : "";
      throw new IOException(
          "cluster.secret is not set, and "
              + file
              + " cannot be used instead ("
              + prefix
              + e.getMessage()
              + "): set cluster.secret to the same value on all nodes, or fix the file",
          e);
    }
  }

  private static String read(Path file) throws IOException {
    Path folder = file.getParent();
    Files.createDirectories(folder.getParent());
    try {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(FOLDER_MODE)));
    } catch (FileAlreadyExistsException e) {
      // created by an earlier start
    }
    requireOwn(folder, FOLDER_MODE);
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      create(file);
    }
    requireOwn(file, FILE_MODE);
    String secret = Files.readString(file).strip();
    if (secret.length() < MIN_LENGTH) {
      throw new IOException("it has fewer than " + MIN_LENGTH + " characters; delete it");
    }
    return secret;
  }

  /** Atomic: of several nodes that start at once, one creates the file and all read it complete. */
  private static void create(Path file) throws IOException {
    Path draft =
        Files.createTempFile(
            file.getParent(),
            "new",
            null,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(FILE_MODE)));
    try {
      Files.writeString(draft, RandomIds.hex(RANDOM_BYTES), StandardOpenOption.SYNC);
      Files.createLink(file, draft);
    } catch (FileAlreadyExistsException e) {
      // another node was first
    } finally {
      Files.delete(draft);
    }
  }

  private static void requireOwn(Path path, String mode) throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (attributes.isSymbolicLink()) {
      throw new IOException(path + " is a symbolic link");
    }
    String owner = attributes.owner().getName();
    String user = ProcessHandle.current().info().user().orElse(owner);
    if (!owner.equals(user)) {
      throw new IOException(path + " belongs to " + owner + ", but this node runs as " + user);
    }
    if (!PosixFilePermissions.fromString(mode).containsAll(attributes.permissions())) {
      throw new IOException(
          "%s has the permissions %s, but more than %s expose the secret to other users: delete it"
              .formatted(path, PosixFilePermissions.toString(attributes.permissions()), mode));
    }
  }

  /** A configuration with the secret and the folder of its cluster; reads files. */
  public static BridgeConfig completed(BridgeConfig config) throws IOException {
    ClusterConfig cluster = config.cluster();
    if (cluster == null) {
      return config;
    }
    Path state = StateFolder.of(System.getenv());
    ClusterConfig withSecret = withUserSecret(cluster, state);
    return config.withCluster(
        cluster.folder() == null ? withSecret.withDefaultFolder(state) : withSecret);
  }
}
