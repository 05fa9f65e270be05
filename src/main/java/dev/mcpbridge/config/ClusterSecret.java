package dev.mcpbridge.config;

import dev.mcpbridge.protocol.PercentEncoding;
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
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The secret of a user's nodes where the configuration has neither a secret nor certificates. The
 * first node that starts makes it, in a file that only this user can read. Blocks; for any thread
 * and any number of processes.
 */
public final class ClusterSecret {
  static final int SHORTEST = 16;

  private static final Logger LOG = System.getLogger(ClusterSecret.class.getName());
  private static final int RANDOM_BYTES = 32;
  private static final String FOLDER_MODE = "rwx------";
  private static final String FILE_MODE = "rw-------";

  private ClusterSecret() {}

  /**
   * The same configuration, with this user's secret where it has nothing to prove a node with.
   *
   * @param state where the user's bridges keep things
   * @throws IOException where the secret cannot be kept, or others may know it
   */
  public static ClusterConfig complete(ClusterConfig config, Path state) throws IOException {
    if (config.tls() != null || !config.secret().isEmpty()) {
      return config;
    }
    Path file =
        state.resolve("cluster").resolve(PercentEncoding.encoded(config.name()) + ".secret");
    try {
      String secret = read(file);
      LOG.log(
          Level.INFO,
          "cluster.secret is not set: this node proves itself with {0}, as all nodes of this user"
              + " do; nodes of other users need the same one in cluster.secret",
          file);
      return config.withSecret(secret);
    } catch (IOException | UnsupportedOperationException e) {
      String why = e instanceof AccessDeniedException ? "no access to " : "";
      throw new IOException(
          "cluster.secret is not set, and "
              + file
              + " cannot take its place ("
              + why
              + e.getMessage()
              + "): set cluster.secret to the same text on all nodes, or mend the file",
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
      // made by an earlier start
    }
    requireOwn(folder, FOLDER_MODE);
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      make(file);
    }
    requireOwn(file, FILE_MODE);
    String secret = Files.readString(file).strip();
    if (secret.length() < SHORTEST) {
      throw new IOException("it holds fewer than " + SHORTEST + " characters; delete it");
    }
    return secret;
  }

  /** Of several nodes that start at once one is first, and the others find a whole secret. */
  private static void make(Path file) throws IOException {
    byte[] random = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(random);
    Path draft =
        Files.createTempFile(
            file.getParent(),
            "new",
            null,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(FILE_MODE)));
    try {
      Files.writeString(draft, HexFormat.of().formatHex(random), StandardOpenOption.SYNC);
      Files.createLink(file, draft);
    } catch (FileAlreadyExistsException e) {
      // another node was first
    } finally {
      Files.delete(draft);
    }
  }

  private static void requireOwn(Path path, String mode) throws IOException {
    PosixFileAttributes is =
        Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (is.isSymbolicLink()) {
      throw new IOException(path + " is a symbolic link");
    }
    String owner = is.owner().getName();
    String self = ProcessHandle.current().info().user().orElse(owner);
    if (!owner.equals(self)) {
      throw new IOException(path + " belongs to " + owner + ", and this node runs as " + self);
    }
    if (!PosixFilePermissions.fromString(mode).containsAll(is.permissions())) {
      throw new IOException(
          "%s has the permissions %s, and more than %s let others know the secret: delete it"
              .formatted(path, PosixFilePermissions.toString(is.permissions()), mode));
    }
  }
}
