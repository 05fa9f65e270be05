package dev.mcpbridge.gitserver;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.lib.RepositoryCache.FileKey;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;
import org.eclipse.jgit.transport.URIish;
import org.eclipse.jgit.util.FS;

/**
 * The repositories below the roots, by name. Symbolic links in a path are resolved before it is
 * compared with the roots, so no path leads out of them. Access to a repository is checked each
 * time it is opened, and JGit opens it as data.
 */
final class Repositories {
  private static final int DEPTH = 4;
  private static final Set<String> NETWORK = Set.of("http", "https", "ssh", "git");

  private final List<Path> roots;
  private final RepositoryAccess repositoryAccess;
  private final FS data;
  private final FS dataAndHooks;
  private final Map<String, Path> byName = new TreeMap<>();

  /**
   * @param trusted folders whose repositories may belong to other users
   * @throws IOException if a root or a trusted folder does not exist
   */
  Repositories(List<Path> roots, List<Path> trusted) throws IOException {
    this(roots, trusted, null);
  }

  /**
   * @param self owner of the repositories; null for the user that this process runs as
   */
  Repositories(List<Path> roots, List<Path> trusted, UserPrincipal self) throws IOException {
    RepositorySettings settings = new RepositorySettings();
    this.roots = realPaths(roots);
    this.repositoryAccess =
        new RepositoryAccess(
            this.roots,
            realPaths(trusted),
            self == null ? Files.getOwner(settings.folder()) : self);
    this.data = new DataOnlyFiles(settings, false);
    this.dataAndHooks = new DataOnlyFiles(settings, true);
    for (Path root : this.roots) {
      find(root);
    }
  }

  private static List<Path> realPaths(List<Path> folders) throws IOException {
    List<Path> realPaths = new ArrayList<>();
    for (Path folder : folders) {
      realPaths.add(folder.toRealPath());
    }
    return realPaths;
  }

  Map<String, Path> all() {
    return byName;
  }

  /** Adds the repository at a path, absolute or relative to the first root. */
  String register(String path) throws IOException {
    Path folder = roots.get(0).resolve(path);
    Path realPath = Files.exists(folder) ? folder.toRealPath() : folder.normalize();
    if (!repositoryAccess.isInRoots(realPath)) {
      throw new IOException("'" + path + "' is outside the roots of this server");
    }
    if (!isRepository(realPath)) {
      throw new IOException("'" + path + "' is not a Git repository");
    }
    repositoryAccess.gitFolder(realPath);
    return add(realPath);
  }

  /**
   * @param withHooks whether the repository's hooks may run
   * @throws IOException with the reason, if the repository is unknown or refused
   */
  Repository open(String name, boolean withHooks) throws IOException {
    Path folder = byName.get(name);
    if (folder == null) {
      throw new IOException(
          "There is no repository '" + name + "'; list_repositories returns the known names");
    }
    return new FileRepositoryBuilder()
        .setFS(withHooks ? dataAndHooks : data)
        .setGitDir(repositoryAccess.gitFolder(folder).toFile())
        .setWorkTree(folder.toFile())
        .setMustExist(true)
        .build();
  }

  /**
   * Requires that a push to the remote is allowed: over a network protocol, or to a local
   * repository that could be opened here.
   *
   * @throws IOException with the reason, if it is not allowed
   */
  void requireRemote(Repository repository, URIish remote) throws IOException {
    String scheme = remote.getScheme();
    if (remote.getHost() != null && (scheme == null || NETWORK.contains(scheme))) {
      if (isOption(remote.getHost()) || isOption(remote.getUser())) {
        throw new IOException("'" + remote + "' has an ssh option in place of a host or user");
      }
      return;
    }
    if (remote.getHost() != null || !(scheme == null || scheme.equals("file"))) {
      throw new IOException(
          "'" + remote + "' cannot be pushed to: remotes are http, https, ssh, git or a folder");
    }
    File folder = repository.getWorkTree().toPath().resolve(remote.getPath()).toFile();
    File gitFolder = folder.isDirectory() ? FileKey.resolve(folder, data) : null;
    if (gitFolder == null) {
      throw new IOException("There is no Git repository at '" + remote + "'");
    }
    repositoryAccess.requireSelfContained(gitFolder.toPath());
  }

  private static boolean isOption(String text) {
    return text != null && text.startsWith("-");
  }

  private void find(Path root) throws IOException {
    Files.walkFileTree(
        root,
        EnumSet.noneOf(FileVisitOption.class),
        DEPTH,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            if (isRepository(folder)) {
              add(folder);
              return FileVisitResult.SKIP_SUBTREE;
            }
            boolean skipped = folder.getFileName() != null && isSkipped(folder);
            return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private boolean isSkipped(Path folder) {
    String name = folder.getFileName().toString();
    return !roots.contains(folder) && (name.startsWith(".") || name.equals("node_modules"));
  }

  private static boolean isRepository(Path folder) {
    return Files.exists(folder.resolve(Constants.DOT_GIT), LinkOption.NOFOLLOW_LINKS);
  }

  /** Adds a repository; a number makes its name unique if folders have the same name. */
  private String add(Path folder) {
    String base = folder.getFileName() == null ? "root" : folder.getFileName().toString();
    String name = base;
    for (int i = 2; byName.containsKey(name) && !byName.get(name).equals(folder); i++) {
      name = base + "-" + i;
    }
    byName.put(name, folder);
    return name;
  }
}
