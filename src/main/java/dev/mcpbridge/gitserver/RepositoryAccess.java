package dev.mcpbridge.gitserver;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.Set;
import org.eclipse.jgit.lib.Constants;

/**
 * Decides which repositories may be opened: those that lie entirely in a root, and belong to the
 * user that this process runs as or are trusted.
 */
final class RepositoryAccess {
  /**
   * Entries that JGit never reads: hooks are only executed, the socket belongs to Git's own daemon,
   * the others belong to separate repositories or to Git LFS.
   */
  private static final Set<String> UNREAD =
      Set.of("hooks", "modules", "worktrees", "lfs", "fsmonitor--daemon.ipc");

  private final List<Path> roots;
  private final List<Path> trusted;
  private final UserPrincipal self;

  /**
   * @param roots real paths
   * @param trusted real paths
   */
  RepositoryAccess(List<Path> roots, List<Path> trusted, UserPrincipal self) {
    this.roots = roots;
    this.trusted = trusted;
    this.self = self;
  }

  boolean isInRoots(Path real) {
    return roots.stream().anyMatch(real::startsWith);
  }

  /**
   * The Git folder of a work tree.
   *
   * @throws IOException with the reason, if the repository is refused
   */
  Path gitFolder(Path workTree) throws IOException {
    Path gitFolder = workTree.resolve(Constants.DOT_GIT);
    if (!Files.isDirectory(gitFolder, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(
          "'"
              + gitFolder
              + "' is not a folder but a reference to one, as in submodules and linked work trees;"
              + " this server supports self-contained repositories only");
    }
    requireOwner(workTree);
    requireSelfContained(gitFolder);
    return gitFolder;
  }

  /**
   * Requires that a Git folder, possibly of a bare repository, lies entirely in a root.
   *
   * @throws IOException with the reason, if the repository is refused
   */
  void requireSelfContained(Path gitFolder) throws IOException {
    Path real = gitFolder.toRealPath();
    if (!isInRoots(real)) {
      throw new IOException("'" + gitFolder + "' is outside the roots of this server");
    }
    requireOwner(real);
    if (Files.exists(real.resolve(Constants.OBJECTS).resolve(Constants.INFO_ALTERNATES))) {
      throw new IOException(
          "'"
              + real
              + "' takes objects from another repository (objects/info/alternates); copy them with"
              + " 'git repack -ad', then remove that file");
    }
    Files.walkFileTree(
        real,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return isUnread(real, folder) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (!attributes.isRegularFile() && !isUnread(real, file)) {
              throw new IOException(
                  "'"
                      + file
                      + "' is a link or a special file; a Git folder may contain only regular files"
                      + " and folders");
            }
            return FileVisitResult.CONTINUE;
          }

          /** Ignores missing files: Git creates and deletes lock files and temporary files. */
          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
  }

  private static boolean isUnread(Path gitFolder, Path file) {
    return gitFolder.equals(file.getParent()) && UNREAD.contains(file.getFileName().toString());
  }

  private void requireOwner(Path folder) throws IOException {
    UserPrincipal owner = Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS);
    if (!owner.equals(self) && trusted.stream().noneMatch(folder::startsWith)) {
      throw new IOException(
          "'"
              + folder
              + "' belongs to "
              + owner.getName()
              + ", and this server runs as "
              + self.getName()
              + "; an operator who trusts it starts the server with --trust "
              + folder);
    }
  }
}
