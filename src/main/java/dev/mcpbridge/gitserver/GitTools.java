package dev.mcpbridge.gitserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.eclipse.jgit.api.AddCommand;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.LogCommand;
import org.eclipse.jgit.api.PushCommand;
import org.eclipse.jgit.api.Status;
import org.eclipse.jgit.api.errors.GitAPIException;
import org.eclipse.jgit.diff.DiffAlgorithm;
import org.eclipse.jgit.diff.DiffEntry;
import org.eclipse.jgit.diff.DiffFormatter;
import org.eclipse.jgit.diff.HistogramDiff;
import org.eclipse.jgit.dircache.DirCacheIterator;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.Ref;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.submodule.SubmoduleWalk.IgnoreSubmoduleMode;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteConfig;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.transport.URIish;
import org.eclipse.jgit.treewalk.AbstractTreeIterator;
import org.eclipse.jgit.treewalk.CanonicalTreeParser;
import org.eclipse.jgit.treewalk.EmptyTreeIterator;
import org.eclipse.jgit.treewalk.FileTreeIterator;
import org.eclipse.jgit.treewalk.filter.PathFilter;
import org.eclipse.jgit.util.TemporaryBuffer;

/** The tools, implemented with JGit. The caller has validated arguments against the schemas. */
final class GitTools {
  private static final int MAX_LOG = 1000;
  private static final int MAX_TEXT = 1 << 20;
  private static final int MAX_NAME = 1 << 10;
  private static final int MAX_DIFFED_FILE = 4 << 20;

  private final Repositories repositories;
  private final boolean hooksAllowed;

  GitTools(Repositories repositories, boolean hooksAllowed) {
    this.repositories = repositories;
    this.hooksAllowed = hooksAllowed;
  }

  /**
   * @param name one of the offered tools
   */
  ObjectNode call(String name, ObjectNode arguments) throws IOException, GitAPIException {
    if (name.equals("list_repositories")) {
      return list();
    }
    if (name.equals("register_repository")) {
      String registered = repositories.register(text(arguments, "path"));
      return Json.object().put("repository", registered);
    }
    boolean withHooks = hooksAllowed && arguments.path("run_hooks").asBoolean(false);
    try (Repository repository = repositories.open(text(arguments, "repository"), withHooks)) {
      Git git = Git.wrap(repository);
      return switch (name) {
        case "git_status" -> status(git);
        case "git_log" -> log(git, arguments);
        case "git_diff" -> diff(repository, arguments);
        case "git_add" -> add(git, arguments);
        case "git_commit" -> commit(git, arguments);
        case "git_push" -> push(git, arguments);
        default -> throw new IllegalArgumentException(name);
      };
    }
  }

  private ObjectNode list() {
    ObjectNode result = Json.object();
    ArrayNode list = result.putArray("repositories");
    repositories
        .all()
        .forEach(
            (name, path) -> {
              ObjectNode entry = list.addObject().put("name", name).put("path", path.toString());
              try (Repository repository = repositories.open(name, false)) {
                entry.put("branch", repository.getBranch());
              } catch (IOException | RuntimeException e) {
                entry.put("refused", e.getMessage());
              }
            });
    return result;
  }

  private static ObjectNode status(Git git) throws IOException, GitAPIException {
    Repository repository = git.getRepository();
    Status status = statusOf(git);
    Collection<String> submodules = stagedSubmodules(repository);
    ObjectNode result =
        Json.object()
            .put("branch", repository.getBranch())
            .put("clean", status.isClean() && submodules.isEmpty());
    Collection<String> staged = new TreeSet<>(status.getAdded());
    staged.addAll(status.getChanged());
    staged.addAll(status.getRemoved());
    staged.addAll(submodules);
    Collection<String> changed = new TreeSet<>(status.getModified());
    changed.addAll(status.getMissing());
    putAll(result, "staged", staged);
    putAll(result, "changed", changed);
    putAll(result, "untracked", new TreeSet<>(status.getUntracked()));
    putAll(result, "conflicting", new TreeSet<>(status.getConflicting()));
    return result;
  }

  /** Ignores submodules: JGit would open their repositories, which may be anywhere. */
  private static Status statusOf(Git git) throws GitAPIException {
    return git.status().setIgnoreSubmodules(IgnoreSubmoduleMode.ALL).call();
  }

  /** Submodules staged by another Git implementation. */
  private static Collection<String> stagedSubmodules(Repository repository) throws IOException {
    Collection<String> paths = new TreeSet<>();
    try (DiffFormatter formatter = new DiffFormatter(OutputStream.nullOutputStream());
        ObjectReader reader = repository.newObjectReader()) {
      formatter.setRepository(repository);
      for (DiffEntry entry : formatter.scan(head(repository, reader), index(repository))) {
        if (entry.getOldMode() == FileMode.GITLINK) {
          paths.add(entry.getOldPath());
        } else if (entry.getNewMode() == FileMode.GITLINK) {
          paths.add(entry.getNewPath());
        }
      }
    }
    return paths;
  }

  private static AbstractTreeIterator index(Repository repository) throws IOException {
    return new DirCacheIterator(repository.readDirCache());
  }

  private static ObjectNode log(Git git, ObjectNode arguments) throws IOException, GitAPIException {
    ObjectNode result = Json.object();
    ArrayNode commits = result.putArray("commits");
    if (git.getRepository().resolve("HEAD") == null) {
      return result;
    }
    int max = Math.min(MAX_LOG, arguments.path("max_count").asInt(10));
    LogCommand log = git.log().setMaxCount(max).setSkip(arguments.path("skip").asInt(0));
    if (arguments.has("path")) {
      log.addPath(requireInside(arguments.path("path").asText()));
    }
    int remaining = MAX_TEXT;
    for (RevCommit commit : log.call()) {
      PersonIdent author = commit.getAuthorIdent();
      String message = commit.getFullMessage().strip();
      ObjectNode entry =
          commits
              .addObject()
              .put("id", commit.getName())
              .put("author", cut(author.getName(), MAX_NAME))
              .put("email", cut(author.getEmailAddress(), MAX_NAME))
              .put("date", author.getWhenAsInstant().toString())
              .put("message", cut(message, remaining));
      if (message.length() > remaining) {
        entry.put("truncated", true);
      }
      remaining -= Math.min(remaining, message.length());
      commit.disposeBody();
    }
    return result;
  }

  private static String cut(String text, int max) {
    return text.length() > max ? text.substring(0, max) : text;
  }

  private static ObjectNode diff(Repository repository, ObjectNode arguments) throws IOException {
    boolean staged = arguments.path("staged").asBoolean(false);
    TemporaryBuffer out = new TemporaryBuffer.Heap(MAX_TEXT);
    boolean cut = false;
    try (DiffFormatter formatter = new DiffFormatter(out);
        ObjectReader reader = repository.newObjectReader()) {
      formatter.setRepository(repository);
      formatter.setBinaryFileThreshold(MAX_DIFFED_FILE);
      formatter.setDiffAlgorithm(linear());
      if (arguments.has("path")) {
        formatter.setPathFilter(PathFilter.create(requireInside(arguments.path("path").asText())));
      }
      AbstractTreeIterator index = index(repository);
      AbstractTreeIterator from = staged ? head(repository, reader) : index;
      AbstractTreeIterator to = staged ? index : new FileTreeIterator(repository);
      for (DiffEntry entry : formatter.scan(from, to)) {
        boolean submodule = !staged && entry.getOldMode() == FileMode.GITLINK;
        if (!submodule) {
          formatter.format(entry);
        }
      }
      formatter.flush();
    } catch (IOException e) {
      cut = out.length() == MAX_TEXT;
      if (!cut) {
        throw e;
      }
    }
    String text = new String(out.toByteArray(), StandardCharsets.UTF_8);
    return Json.object().put("diff", text).put("truncated", cut);
  }

  /** Never searches for the shortest diff of frequently repeated lines, which takes hours. */
  private static DiffAlgorithm linear() {
    HistogramDiff histogram = new HistogramDiff();
    histogram.setFallbackAlgorithm(null);
    return histogram;
  }

  private static AbstractTreeIterator head(Repository repository, ObjectReader reader)
      throws IOException {
    ObjectId tree = repository.resolve("HEAD^{tree}");
    if (tree == null) {
      return new EmptyTreeIterator();
    }
    CanonicalTreeParser parser = new CanonicalTreeParser();
    parser.reset(reader, tree);
    return parser;
  }

  private static ObjectNode add(Git git, ObjectNode arguments) throws IOException, GitAPIException {
    AddCommand add = git.add();
    AddCommand update = git.add().setUpdate(true);
    for (JsonNode path : arguments.path("paths")) {
      add.addFilepattern(requireInside(path.asText()));
      update.addFilepattern(requireInside(path.asText()));
    }
    add.call();
    update.call();
    return status(git);
  }

  private static ObjectNode commit(Git git, ObjectNode arguments)
      throws IOException, GitAPIException {
    boolean isUnchanged =
        statusOf(git).getUncommittedChanges().isEmpty()
            && stagedSubmodules(git.getRepository()).isEmpty();
    if (isUnchanged) {
      throw new IOException("There is nothing to commit");
    }
    RevCommit commit =
        git.commit()
            .setMessage(text(arguments, "message"))
            .setSign(false)
            .setHookOutputStream(System.err)
            .call();
    return Json.object()
        .put("id", commit.getName())
        .put("branch", git.getRepository().getBranch())
        .put("message", commit.getFullMessage());
  }

  /** Pushes to a configured remote only; the caller cannot choose a URL. */
  private ObjectNode push(Git git, ObjectNode arguments) throws IOException, GitAPIException {
    Repository repository = git.getRepository();
    String remote = arguments.path("remote").asText("origin");
    for (URIish uri : pushUrls(repository, remote)) {
      repositories.requireRemote(repository, uri);
    }
    String branch = branch(repository);
    PushCommand push =
        git.push()
            .setRemote(remote)
            .setRefSpecs(new RefSpec(branch + ":" + branch))
            .setHookOutputStream(System.err);
    ObjectNode result = Json.object().put("remote", remote);
    ArrayNode updates = result.putArray("updates");
    List<String> refused = new ArrayList<>();
    for (PushResult pushed : push.call()) {
      for (RemoteRefUpdate update : pushed.getRemoteUpdates()) {
        updates
            .addObject()
            .put("ref", update.getRemoteName())
            .put("status", update.getStatus().name());
        boolean isSuccess =
            update.getStatus() == RemoteRefUpdate.Status.OK
                || update.getStatus() == RemoteRefUpdate.Status.UP_TO_DATE;
        if (!isSuccess) {
          refused.add(update.getRemoteName() + " " + update.getStatus());
        }
      }
    }
    if (!refused.isEmpty()) {
      throw new IOException("The remote refused: " + String.join(", ", refused));
    }
    return result;
  }

  private static List<URIish> pushUrls(Repository repository, String remote) throws IOException {
    if (!repository.getRemoteNames().contains(remote)) {
      throw new IOException("There is no remote '" + remote + "'");
    }
    try {
      RemoteConfig configured = new RemoteConfig(repository.getConfig(), remote);
      List<URIish> own = configured.getPushURIs();
      List<URIish> uris = own.isEmpty() ? configured.getURIs() : own;
      if (uris.isEmpty()) {
        throw new IOException("The remote '" + remote + "' has no URL");
      }
      return uris;
    } catch (URISyntaxException e) {
      throw new IOException(
          "The URL of the remote '" + remote + "' is invalid: " + e.getMessage(), e);
    }
  }

  /** The full name of the current branch; fails for names that could be patterns or options. */
  private static String branch(Repository repository) throws IOException {
    Ref head = repository.exactRef(Constants.HEAD);
    String branch = head == null ? "" : head.getLeaf().getName();
    if (!branch.startsWith(Constants.R_HEADS) || !Repository.isValidRefName(branch)) {
      throw new IOException("HEAD is detached, so there is no branch to push");
    }
    if (head.getObjectId() == null) {
      throw new IOException("The branch '" + branch + "' has no commit yet");
    }
    return branch;
  }

  private static String text(ObjectNode arguments, String name) throws IOException {
    String value = arguments.path(name).asText("");
    if (value.isBlank()) {
      throw new IOException("The argument '" + name + "' is missing");
    }
    return value;
  }

  /** Returns the path if it is relative and does not lead out of the work tree. */
  private static String requireInside(String path) throws IOException {
    boolean leaves = List.of(path.split("/")).contains("..");
    if (path.isBlank() || path.startsWith("/") || leaves || path.contains("\\")) {
      throw new IOException("'" + path + "' is not a path inside the repository");
    }
    return path;
  }

  private static void putAll(ObjectNode result, String name, Collection<String> values) {
    ArrayNode array = result.putArray(name);
    values.forEach(array::add);
  }
}
