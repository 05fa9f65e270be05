package dev.mcpbridge.cluster;

import dev.mcpbridge.cluster.FirstStart.Folder;
import dev.mcpbridge.cluster.engine.ServerFiles;
import dev.mcpbridge.cluster.trust.Authority;
import dev.mcpbridge.cluster.trust.ClusterKeys;
import dev.mcpbridge.config.ClusterConfig;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * The private folder of a node in a cluster: its number, its certificate, and the state of its
 * embedded server. Everything in it can be lost: the node then gets it from the others. Blocks.
 */
final class NodeFolder {
  private static final Logger LOG = System.getLogger(NodeFolder.class.getName());
  private static final long FULL_BYTES = 1 << 20;

  private final Path folder;

  NodeFolder(Path folder) {
    this.folder = folder;
  }

  Path path() {
    return folder;
  }

  /** PEM file with key and certificate of this node. */
  Path certificate() {
    return folder.resolve("node.pem");
  }

  /** PEM file with the certificates of the authority of all nodes. */
  Path authority() {
    return folder.resolve("authority.pem");
  }

  /** Creates the folder, readable by this user only, and writes the certificates. */
  void prepare(ClusterConfig config, ClusterKeys keys) throws IOException {
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    ClusterConfig.Tls tls = config.tls();
    if (tls == null) {
      Authority own = keys.authority();
      Authority.Issued issued = own.issue(List.of(config.advertisedHost()));
      Files.writeString(certificate(), issued.key() + issued.certificate());
      Files.writeString(authority(), own.certificate());
    } else {
      String key = Files.readString(tls.key());
      Files.writeString(certificate(), key + "\n" + Files.readString(tls.certificate()));
      Files.writeString(authority(), Files.readString(tls.trustedCertificates()));
    }
  }

  Folder state() {
    if (Files.exists(folder.resolve("established")) && ServerFiles.hasState(folder)) {
      return Folder.ESTABLISHED;
    }
    return number() > 0 && Files.exists(folder.resolve("beginning"))
        ? Folder.BEGINNING
        : Folder.EMPTY;
  }

  /** Warns if the disk is full: the server of the store cannot write, and is silent about it. */
  void warnIfFull() throws IOException {
    if (Files.getFileStore(folder).getUsableSpace() < FULL_BYTES) {
      LOG.log(
          Level.ERROR,
          "cluster.folder {0} is full: this node is no member until there is space",
          folder);
    }
  }

  /** The number of this node; 0 if it has none. */
  int number() {
    try {
      return Integer.parseInt(Files.readString(folder.resolve("number")).strip());
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  /**
   * Stores the number of this node.
   *
   * @param begins whether it begins a cluster
   */
  void numbered(int number, boolean begins) throws IOException {
    Files.writeString(folder.resolve("number"), Integer.toString(number));
    if (begins) {
      Files.writeString(folder.resolve("beginning"), "");
    } else {
      Files.deleteIfExists(folder.resolve("beginning"));
    }
  }

  /** The node has been part of a cluster. */
  void established() throws IOException {
    Files.writeString(folder.resolve("established"), "");
    Files.deleteIfExists(folder.resolve("beginning"));
  }
}
