package dev.mcpbridge.gitserver;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jgit.errors.ConfigInvalidException;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.util.SystemReader;

/**
 * What counts of a repository's configuration: settings that say how files are stored, who commits
 * and where remotes are. Whatever names a program or another file, and whatever is not known here,
 * does not. The user's and the system's configuration belong to the operator and count, without
 * their filters.
 *
 * <p>JGit reads configurations from files only, so what counts is written to a copy, in a folder of
 * this process that is removed at its end.
 */
final class RepositorySettings {
  private static final int MAX_BYTES = 1 << 20;

  private static final Map<String, List<String>> HARMLESS =
      Map.of(
          "core",
          List.of(
              "repositoryformatversion",
              "filemode",
              "bare",
              "symlinks",
              "ignorecase",
              "precomposeunicode",
              "autocrlf",
              "eol",
              "checkstat",
              "trustctime",
              "logallrefupdates"),
          "extensions",
          List.of("refstorage"),
          "i18n",
          List.of("commitencoding"),
          "user",
          List.of("name", "email"),
          "author",
          List.of("name", "email"),
          "committer",
          List.of("name", "email"));

  private static final List<String> OF_A_REMOTE = List.of("url", "pushurl", "fetch");
  private static final List<String> OF_A_FILTER = List.of("clean", "smudge", "process");

  private final Path folder;
  private final Map<Path, Path> copies = new HashMap<>();

  RepositorySettings() throws IOException {
    this.folder = Files.createTempDirectory("mcp-bridge-git-");
    this.folder.toFile().deleteOnExit();
  }

  /** Belongs to the user that this process runs as, and to nobody else. */
  Path folder() {
    return folder;
  }

  /**
   * The copy for the repository in a Git folder, as its configuration is now.
   *
   * @throws IOException where it cannot be read, is no configuration or is too large
   */
  Path harmlessCopy(Path gitFolder) throws IOException {
    Path copy = copies.get(gitFolder);
    if (copy == null) {
      copy = folder.resolve(Constants.CONFIG + "-" + copies.size());
      copies.put(gitFolder, copy);
      copy.toFile().deleteOnExit();
    }
    Path file = gitFolder.resolve(Constants.CONFIG);
    try {
      Config given = new Config();
      given.fromText(read(file));
      Files.writeString(copy, harmless(given, SystemReader.getInstance().getUserConfig()).toText());
    } catch (ConfigInvalidException e) {
      throw new IOException("'" + file + "' is no Git configuration: " + e.getMessage(), e);
    }
    return copy;
  }

  /** A plain {@link Config} does not follow includes. */
  static Config harmless(Config given, Config user) {
    Config harmless = new Config();
    HARMLESS.forEach((section, names) -> copy(given, harmless, section, null, names));
    for (String remote : given.getSubsections("remote")) {
      copy(given, harmless, "remote", remote, OF_A_REMOTE);
    }
    for (String filter : user.getSubsections("filter")) {
      OF_A_FILTER.forEach(name -> harmless.setString("filter", filter, name, ""));
    }
    return harmless;
  }

  private static void copy(
      Config from, Config to, String section, String subsection, List<String> names) {
    for (String name : names) {
      List<String> values = List.of(from.getStringList(section, subsection, name));
      if (!values.isEmpty()) {
        to.setStringList(section, subsection, name, values);
      }
    }
  }

  private static String read(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return "";
    }
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IOException("'" + file + "' is larger than " + MAX_BYTES + " bytes");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }
}
