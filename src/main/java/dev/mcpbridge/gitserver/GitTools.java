package dev.mcpbridge.gitserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.eclipse.jgit.api.AddCommand;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.LogCommand;
import org.eclipse.jgit.api.Status;
import org.eclipse.jgit.api.errors.GitAPIException;
import org.eclipse.jgit.diff.DiffFormatter;
import org.eclipse.jgit.dircache.DirCacheIterator;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.treewalk.AbstractTreeIterator;
import org.eclipse.jgit.treewalk.CanonicalTreeParser;
import org.eclipse.jgit.treewalk.EmptyTreeIterator;
import org.eclipse.jgit.treewalk.FileTreeIterator;
import org.eclipse.jgit.treewalk.filter.PathFilter;

/** What the tools do, over JGit. Arguments were checked against the schemas by whoever calls. */
final class GitTools {
  private static final int MAX_LOG = 1000;
  private static final int MAX_DIFF = 1 << 20;

  private final Repositories repositories;

  GitTools(Repositories repositories) {
    this.repositories = repositories;
  }

  ObjectNode call(String name, ObjectNode arguments)
      throws IOException, GitAPIException, UnknownToolException {
    if (name.equals("list_repositories")) {
      return list();
    }
    if (name.equals("register_repository")) {
      String registered = repositories.register(text(arguments, "path"));
      return Json.object().put("repository", registered);
    }
    try (Git git = named(name, arguments)) {
      return switch (name) {
        case "git_status" -> status(git);
        case "git_log" -> log(git, arguments);
        case "git_diff" -> diff(git, arguments);
        case "git_add" -> add(git, arguments);
        case "git_commit" -> commit(git, arguments);
        case "git_push" -> push(git, arguments);
        default -> throw new UnknownToolException(name);
      };
    }
  }

  private Git named(String tool, ObjectNode arguments) throws IOException, UnknownToolException {
    if (!tool.startsWith("git_")) {
      throw new UnknownToolException(tool);
    }
    return repositories.open(text(arguments, "repository"));
  }

  private ObjectNode list() throws IOException {
    ObjectNode result = Json.object();
    ArrayNode list = result.putArray("repositories");
    for (var entry : repositories.all().entrySet()) {
      try (Git git = repositories.open(entry.getKey())) {
        list.addObject()
            .put("name", entry.getKey())
            .put("path", entry.getValue().toString())
            .put("branch", git.getRepository().getBranch());
      }
    }
    return result;
  }

  private static ObjectNode status(Git git) throws IOException, GitAPIException {
    Status status = git.status().call();
    ObjectNode result =
        Json.object().put("branch", git.getRepository().getBranch()).put("clean", status.isClean());
    Collection<String> staged = new TreeSet<>(status.getAdded());
    staged.addAll(status.getChanged());
    staged.addAll(status.getRemoved());
    Collection<String> changed = new TreeSet<>(status.getModified());
    changed.addAll(status.getMissing());
    putAll(result, "staged", staged);
    putAll(result, "changed", changed);
    putAll(result, "untracked", new TreeSet<>(status.getUntracked()));
    putAll(result, "conflicting", new TreeSet<>(status.getConflicting()));
    return result;
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
      log.addPath(inside(arguments.path("path").asText()));
    }
    for (RevCommit commit : log.call()) {
      commits
          .addObject()
          .put("id", commit.getName())
          .put("author", commit.getAuthorIdent().getName())
          .put("email", commit.getAuthorIdent().getEmailAddress())
          .put("date", commit.getAuthorIdent().getWhenAsInstant().toString())
          .put("message", commit.getFullMessage().strip());
    }
    return result;
  }

  private static ObjectNode diff(Git git, ObjectNode arguments) throws IOException {
    Repository repository = git.getRepository();
    boolean staged = arguments.path("staged").asBoolean(false);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (DiffFormatter formatter = new DiffFormatter(out);
        ObjectReader reader = repository.newObjectReader()) {
      formatter.setRepository(repository);
      if (arguments.has("path")) {
        formatter.setPathFilter(PathFilter.create(inside(arguments.path("path").asText())));
      }
      AbstractTreeIterator index = new DirCacheIterator(repository.readDirCache());
      AbstractTreeIterator from = staged ? head(repository, reader) : index;
      AbstractTreeIterator to = staged ? index : new FileTreeIterator(repository);
      formatter.format(from, to);
    }
    String diff = out.toString(StandardCharsets.UTF_8);
    boolean cut = diff.length() > MAX_DIFF;
    return Json.object()
        .put("diff", cut ? diff.substring(0, MAX_DIFF) : diff)
        .put("truncated", cut);
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
      add.addFilepattern(inside(path.asText()));
      update.addFilepattern(inside(path.asText()));
    }
    add.call();
    update.call();
    return status(git);
  }

  private static ObjectNode commit(Git git, ObjectNode arguments)
      throws IOException, GitAPIException {
    if (git.status().call().getUncommittedChanges().isEmpty()) {
      throw new IOException("There is nothing to commit");
    }
    RevCommit commit = git.commit().setMessage(text(arguments, "message")).call();
    return Json.object()
        .put("id", commit.getName())
        .put("branch", git.getRepository().getBranch())
        .put("message", commit.getFullMessage());
  }

  /** Pushes to a configured remote only; its URL is not the caller's to choose. */
  private static ObjectNode push(Git git, ObjectNode arguments)
      throws IOException, GitAPIException {
    String remote = arguments.path("remote").asText("origin");
    if (!git.getRepository().getRemoteNames().contains(remote)) {
      throw new IOException("There is no remote '" + remote + "'");
    }
    String branch = git.getRepository().getBranch();
    ObjectNode result = Json.object().put("remote", remote);
    ArrayNode updates = result.putArray("updates");
    List<String> refused = new ArrayList<>();
    for (PushResult pushed : git.push().setRemote(remote).add(branch).call()) {
      for (RemoteRefUpdate update : pushed.getRemoteUpdates()) {
        updates
            .addObject()
            .put("ref", update.getRemoteName())
            .put("status", update.getStatus().name());
        boolean fine =
            update.getStatus() == RemoteRefUpdate.Status.OK
                || update.getStatus() == RemoteRefUpdate.Status.UP_TO_DATE;
        if (!fine) {
          refused.add(update.getRemoteName() + " " + update.getStatus());
        }
      }
    }
    if (!refused.isEmpty()) {
      throw new IOException("The remote refused: " + String.join(", ", refused));
    }
    return result;
  }

  private static String text(ObjectNode arguments, String name) throws IOException {
    String value = arguments.path(name).asText("");
    if (value.isBlank()) {
      throw new IOException("The argument '" + name + "' is missing");
    }
    return value;
  }

  /** A path in the work tree: relative, and not leading out of it. */
  private static String inside(String path) throws IOException {
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
