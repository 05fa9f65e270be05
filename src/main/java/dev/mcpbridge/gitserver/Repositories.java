package dev.mcpbridge.gitserver;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.eclipse.jgit.api.Git;

/**
 * The repositories below the roots, by name. Every path is resolved through its links first and
 * then held against the roots, so none leads out of them.
 */
final class Repositories {
  private static final int DEPTH = 4;

  private final List<Path> roots = new ArrayList<>();
  private final Map<String, Path> known = new TreeMap<>();

  /**
   * @throws IOException where a root is not there
   */
  Repositories(List<Path> roots) throws IOException {
    for (Path root : roots) {
      this.roots.add(root.toRealPath());
    }
    for (Path root : this.roots) {
      find(root);
    }
  }

  Map<String, Path> all() {
    return known;
  }

  /** Adds the repository at a path, absolute or relative to the first root. */
  String register(String path) throws IOException {
    Path folder = roots.get(0).resolve(path);
    Path real = Files.exists(folder) ? folder.toRealPath() : folder.normalize();
    if (roots.stream().noneMatch(real::startsWith)) {
      throw new IOException("'" + path + "' is outside the roots of this server");
    }
    if (!isRepository(real)) {
      throw new IOException("'" + path + "' is not a Git repository");
    }
    return add(real);
  }

  Git open(String name) throws IOException {
    Path folder = known.get(name);
    if (folder == null) {
      throw new IOException(
          "There is no repository '" + name + "'; list_repositories names those there are");
    }
    return Git.open(folder.toFile());
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
    return Files.isReadable(folder.resolve(".git").resolve("HEAD"));
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
