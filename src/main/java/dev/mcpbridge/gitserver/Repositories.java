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
 * The repositories below the roots, by name. Every path is resolved through its links first and
 * then held against the roots, so none leads out of them. Whether a repository may be used is found
 * out each time that it is opened, and JGit opens it as data.
 */
final class Repositories {
  private static final int DEPTH = 4;
  private static final Set<String> NETWORK = Set.of("http", "https", "ssh", "git");

  private final List<Path> roots;
  private final RepositoryAccess repositoryAccess;
  private final FS data;
  private final FS dataAndHooks;
  private final Map<String, Path> known = new TreeMap<>();

  /**
   * @param trusted folders whose repositories may belong to anybody
   * @throws IOException where a root or a trusted folder is not there
   */
  Repositories(List<Path> roots, List<Path> trusted) throws IOException {
    this(roots, trusted, null);
  }

  /**
   * @param self whose repositories are used; null for the user that this process runs as
   */
  Repositories(List<Path> roots, List<Path> trusted, UserPrincipal self) throws IOException {
    RepositorySettings settings = new RepositorySettings();
    this.roots = real(roots);
    this.repositoryAccess =
        new RepositoryAccess(
            this.roots, real(trusted), self == null ? Files.getOwner(settings.folder()) : self);
    this.data = new DataOnlyFiles(settings, false);
    this.dataAndHooks = new DataOnlyFiles(settings, true);
    for (Path root : this.roots) {
      find(root);
    }
  }

  private static List<Path> real(List<Path> folders) throws IOException {
    List<Path> real = new ArrayList<>();
    for (Path folder : folders) {
      real.add(folder.toRealPath());
    }
    return real;
  }

  Map<String, Path> all() {
    return known;
  }

  /** Adds the repository at a path, absolute or relative to the first root. */
  String register(String path) throws IOException {
    Path folder = roots.get(0).resolve(path);
    Path real = Files.exists(folder) ? folder.toRealPath() : folder.normalize();
    if (!repositoryAccess.isInRoots(real)) {
      throw new IOException("'" + path + "' is outside the roots of this server");
    }
    if (!isRepository(real)) {
      throw new IOException("'" + path + "' is not a Git repository");
    }
    repositoryAccess.gitFolder(real);
    return add(real);
  }

  Repository open(String name) throws IOException {
    return open(name, data);
  }

  Repository openWithHooks(String name) throws IOException {
    return open(name, dataAndHooks);
  }

  /**
   * @throws IOException says why there is no such repository or why it is refused
   */
  private Repository open(String name, FS files) throws IOException {
    Path folder = known.get(name);
    if (folder == null) {
      throw new IOException(
          "There is no repository '" + name + "'; list_repositories names those there are");
    }
    return new FileRepositoryBuilder()
        .setFS(files)
        .setGitDir(repositoryAccess.gitFolder(folder).toFile())
        .setWorkTree(folder.toFile())
        .setMustExist(true)
        .build();
  }

  /**
   * That a push may go there: over a network, or to a repository that could be opened here.
   *
   * @throws IOException says why not
   */
  void requireRemote(Repository repository, URIish remote) throws IOException {
    String scheme = remote.getScheme();
    if (remote.getHost() != null && (scheme == null || NETWORK.contains(scheme))) {
      if (isOption(remote.getHost()) || isOption(remote.getUser())) {
        throw new IOException("'" + remote + "' has an option of ssh in the place of its host");
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
    repositoryAccess.requireWhole(gitFolder.toPath());
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
            boolean hidden = folder.getFileName() != null && isSkipped(folder);
            return hidden ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
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

  /** Two folders of one name are told apart by a number. */
  private String add(Path folder) {
    String base = folder.getFileName() == null ? "root" : folder.getFileName().toString();
    String name = base;
    for (int i = 2; known.containsKey(name) && !known.get(name).equals(folder); i++) {
      name = base + "-" + i;
    }
    known.put(name, folder);
    return name;
  }
}
