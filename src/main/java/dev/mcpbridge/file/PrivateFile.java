package dev.mcpbridge.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** A file that only its user may read. Every method blocks. */
public final class PrivateFile {
  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE = permissions("rw-------");
  private static final FileAttribute<Set<PosixFilePermission>> FOLDER = permissions("rwx------");
  private static final Set<StandardOpenOption> CREATE_AND_WRITE =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);

  private static final Set<StandardOpenOption> CREATE_NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

  private PrivateFile() {}

  private static FileAttribute<Set<PosixFilePermission>> permissions(String text) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text));
  }

  /** Puts on the disk which files a folder has, on systems on which that is possible. */
  public static void forceFolder(Path folder) {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException e) {
      // Windows does not open folders, and needs no such call
    }
  }

  /** Opens a file for writing; it is created with its folders if it does not exist. */
  public static FileChannel open(Path file) throws IOException {
    createFolder(file.toAbsolutePath().getParent());
    return FileChannel.open(file, CREATE_AND_WRITE, PRIVATE);
  }

  /** Creates a folder that only its user may enter, with those above it, unless it exists. */
  public static void createFolder(Path folder) throws IOException {
    Files.createDirectories(folder, FOLDER);
  }

  /**
   * Replaces a file, or creates it with its folders. Written beside the old file and then renamed:
   * a reader sees the old text or the new one, also after a loss of power. Not concurrently for one
   * file.
   *
   * @return the time of its last change, unless another program has changed it since
   */
  public static FileTime replace(Path file, String text) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    createFolder(folder);
    Path beside = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(beside);
    try (FileChannel channel = FileChannel.open(beside, CREATE_NEW, PRIVATE)) {
      ByteBuffer rest = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (rest.hasRemaining()) {
        channel.write(rest);
      }
      channel.force(true);
    }
    FileTime modified = Files.getLastModifiedTime(beside);
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    forceFolder(folder);
    return modified;
  }
}
