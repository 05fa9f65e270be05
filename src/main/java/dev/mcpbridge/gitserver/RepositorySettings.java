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
 * Filters a repository's configuration. Only settings for file storage, committers and remotes are
 * kept; settings that name a program or another file, and unknown settings, are dropped. The user's
 * and the system's configuration belong to the operator and apply, except for their filters.
 *
 * <p>JGit reads configurations from files only, so the filtered settings are written to a copy, in
 * a folder of this process that is deleted on exit.
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

  private static final List<String> REMOTE_SETTINGS = List.of("url", "pushurl", "fetch");
  private static final List<String> FILTER_SETTINGS = List.of("clean", "smudge", "process");

  private final Path folder;
  private final Map<Path, Path> copies = new HashMap<>();

  RepositorySettings() throws IOException {
    this.folder = Files.createTempDirectory("mcp-bridge-git-");
    this.folder.toFile().deleteOnExit();
  }

  /** The folder of the copies; owned by the user that this process runs as. */
  Path folder() {
    return folder;
  }

  /**
   * Writes the filtered copy of a repository's current configuration, and returns its path.
   *
   * @throws IOException if the configuration cannot be read, is invalid or too large
   */
  Path filteredCopy(Path gitFolder) throws IOException {
    Path copy = copies.get(gitFolder);
    if (copy == null) {
      copy = folder.resolve(Constants.CONFIG + "-" + copies.size());
      copies.put(gitFolder, copy);
      copy.toFile().deleteOnExit();
    }
    Path file = gitFolder.resolve(Constants.CONFIG);
    try {
      Config original = new Config();
      original.fromText(read(file));
      Files.writeString(
          copy, harmless(original, SystemReader.getInstance().getUserConfig()).toText());
    } catch (ConfigInvalidException e) {
      throw new IOException(
          "'" + file + "' is not a valid Git configuration: " + e.getMessage(), e);
    }
    return copy;
  }

  /** The filtered settings. Includes are not followed: a plain {@link Config} ignores them. */
  static Config harmless(Config original, Config user) {
    Config harmless = new Config();
    HARMLESS.forEach((section, names) -> copy(original, harmless, section, null, names));
    for (String remote : original.getSubsections("remote")) {
      copy(original, harmless, "remote", remote, REMOTE_SETTINGS);
    }
    for (String filter : user.getSubsections("filter")) {
      FILTER_SETTINGS.forEach(name -> harmless.setString("filter", filter, name, ""));
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
