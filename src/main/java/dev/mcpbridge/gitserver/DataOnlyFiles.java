package dev.mcpbridge.gitserver;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jgit.api.errors.JGitInternalException;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.treewalk.FileTreeIterator.FileEntry;
import org.eclipse.jgit.treewalk.FileTreeIterator.FileModeStrategy;
import org.eclipse.jgit.treewalk.WorkingTreeIterator.Entry;
import org.eclipse.jgit.util.FS;
import org.eclipse.jgit.util.FS_POSIX;
import org.eclipse.jgit.util.ProcessResult;

/**
 * The file system through which JGit accesses repositories, which treats a repository as data. No
 * program is started, except hooks if they are allowed. The configuration of a repository is
 * replaced by a copy with its harmless settings only. {@code commondir} is ignored. In a work tree
 * only files, folders and links are visible: no nested repositories and no special files.
 */
final class DataOnlyFiles extends FS_POSIX {
  private final RepositorySettings settings;
  private final boolean hooksAllowed;

  DataOnlyFiles(RepositorySettings settings, boolean hooksAllowed) {
    this.settings = settings;
    this.hooksAllowed = hooksAllowed;
  }

  @Override
  public FS newInstance() {
    return new DataOnlyFiles(settings, hooksAllowed);
  }

  /** JGit calls this to locate the configuration of a repository before reading it. */
  @Override
  public File resolve(File folder, String name) {
    if (folder == null || !name.equals(Constants.CONFIG)) {
      return super.resolve(folder, name);
    }
    try {
      return settings.filteredCopy(folder.toPath()).toFile();
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  @Override
  public File getCommonDir(File gitFolder) {
    return gitFolder;
  }

  /** JGit neither opens nor reads entries hidden here; reading a named pipe would never end. */
  @Override
  public Entry[] list(File folder, FileModeStrategy modes) {
    File[] files = folder.listFiles();
    if (files == null) {
      return NO_ENTRIES;
    }
    List<Entry> entries = new ArrayList<>(files.length);
    for (File file : files) {
      Attributes attributes = getAttributes(normalize(file));
      boolean isVisible =
          attributes.isRegularFile() || attributes.isDirectory() || attributes.isSymbolicLink();
      if (isVisible) {
        Entry entry = new FileEntry(file, this, attributes, modes);
        if (entry.getMode() != FileMode.GITLINK) {
          entries.add(entry);
        }
      }
    }
    return entries.toArray(Entry[]::new);
  }

  @Override
  public File findHook(Repository repository, String name) {
    return hooksAllowed ? DETECTED.findHook(repository, name) : null;
  }

  @Override
  public ProcessResult runHookIfPresent(
      Repository repository,
      String name,
      String[] arguments,
      OutputStream out,
      OutputStream err,
      String stdin) {
    return hooksAllowed
        ? DETECTED.runHookIfPresent(repository, name, arguments, out, err, stdin)
        : new ProcessResult(ProcessResult.Status.NOT_PRESENT);
  }

  @Override
  public ProcessBuilder runInShell(String command, String[] arguments) {
    throw refused(command);
  }

  @Override
  public int runProcess(
      ProcessBuilder process, OutputStream out, OutputStream err, InputStream stdin) {
    throw refused(String.join(" ", process.command()));
  }

  private static JGitInternalException refused(String command) {
    return new JGitInternalException(
        "'" + command + "' was not run: this server never runs programs from a Git configuration");
  }
}
