package dev.mcpbridge.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** A file that only its user may read. Every method blocks. */
public final class PrivateFile {
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private PrivateFile() {}

  /**
   * Replaces a file, or creates it with its folders. Written beside the old file and then renamed:
   * a reader sees the old text or the new one. Not concurrently for one file.
   */
  public static void replace(Path file, String text) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    Path beside = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(beside);
    Files.createFile(beside, PRIVATE);
    Files.writeString(beside, text);
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
