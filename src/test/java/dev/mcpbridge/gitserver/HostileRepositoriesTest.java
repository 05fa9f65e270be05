package dev.mcpbridge.gitserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.dircache.DirCache;
import org.eclipse.jgit.dircache.DirCacheBuilder;
import org.eclipse.jgit.dircache.DirCacheEntry;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.storage.file.FileBasedConfig;
import org.eclipse.jgit.util.FS;
import org.eclipse.jgit.util.SystemReader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Hostile repositories are treated as data: they start no program and lead nowhere else. */
class HostileRepositoriesTest {
  private static final String TREE = "*.txt filter=evil diff=evil merge=evil text=auto\n";

  @TempDir Path folder;
  private Path outside;
  private Path root;
  private Path work;
  private Path git;
  private Path marker;

  @BeforeEach
  void repository() throws Exception {
    folder = folder.toRealPath();
    outside = Files.createDirectories(folder.resolve("outside"));
    root = Files.createDirectories(folder.resolve("root"));
    work = root.resolve("work");
    git = work.resolve(".git");
    marker = folder.resolve("marker");
    Files.writeString(outside.resolve("secret.txt"), "the secret\n");
    create(work);
  }

  @AfterEach
  void restoreUserConfiguration() {
    SystemReader.setInstance(null);
  }

  private static void create(Path at) throws Exception {
    try (Git git = Git.init().setInitialBranch("main").setDirectory(at.toFile()).call()) {
      Files.writeString(at.resolve("a.txt"), "one\n");
      git.add().addFilepattern(".").call();
      git.commit().setMessage("first").setAuthor("A", "a@example.com").setSign(false).call();
    }
  }

  static Stream<Map.Entry<String, String>> settingsThatNamePrograms() {
    return Stream.of(
            "[filter \"evil\"]\n\tclean = PROGRAM\n\tsmudge = PROGRAM\n\trequired = true\n",
            "[filter \"evil\"]\n\tprocess = PROGRAM\n\trequired = true\n",
            "[filter \"evil\"]\n\tuseJGitBuiltin = true\n\tclean = PROGRAM\n",
            "[diff \"evil\"]\n\ttextconv = PROGRAM\n\tcommand = PROGRAM\n[diff]\n\texternal = PROGRAM\n",
            "[merge \"evil\"]\n\tdriver = PROGRAM\n",
            "[core]\n\tfsmonitor = PROGRAM\n",
            "[core]\n\thooksPath = HOOKS\n",
            "[core]\n\tsshCommand = PROGRAM\n\tpager = PROGRAM\n\teditor = PROGRAM\n\taskPass = PROGRAM\n",
            "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = PROGRAM\n",
            "[commit]\n\tgpgsign = true\n[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tprogram = PROGRAM\n",
            "[remote \"origin\"]\n\treceivepack = PROGRAM\n\tuploadpack = PROGRAM\n",
            "[credential]\n\thelper = !PROGRAM\n",
            "[alias]\n\tstatus = !PROGRAM\n",
            "[include]\n\tpath = INCLUDED\n",
            "[includeIf \"gitdir:/\"]\n\tpath = INCLUDED\n",
            "[safe]\n\tdirectory = *\n[include]\n\tpath = ../../../outside/included\n")
        .map(text -> Map.entry(text.replaceAll("\\s+", " "), text));
  }

  @ParameterizedTest
  @MethodSource("settingsThatNamePrograms")
  void noSettingOfARepositoryStartsAProgram(Map.Entry<String, String> setting) throws Exception {
    Path program = program(folder.resolve("program"));
    for (String hook : List.of("pre-commit", "commit-msg", "post-commit", "pre-push")) {
      program(outside.resolve("hooks").resolve(hook));
    }
    Files.writeString(
        outside.resolve("included"), "[filter \"evil\"]\n\tclean = " + program + "\n");
    Git.init().setBare(true).setDirectory(root.resolve("remote").toFile()).call().close();
    configure("[remote \"origin\"]\n\turl = " + root.resolve("remote") + "\n");
    configure(
        setting
            .getValue()
            .replace("PROGRAM", program.toString())
            .replace("HOOKS", outside.resolve("hooks").toString())
            .replace("INCLUDED", outside.resolve("included").toString()));
    Files.writeString(work.resolve(".gitattributes"), TREE);

    ObjectNode pushed = callAllTools();

    assertFalse(Files.exists(marker), "a program was started");
    assertEquals("OK", pushed.at("/updates/0/status").asText());
  }

  @Test
  void hooksAndAttributesOfARepositoryStartNothing() throws Exception {
    List<String> hooks =
        List.of("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-push");
    for (String hook : hooks) {
      program(git.resolve("hooks").resolve(hook));
    }
    Path program = program(folder.resolve("program"));
    Files.writeString(Files.createDirectories(git.resolve("info")).resolve("attributes"), TREE);
    configure("[filter \"evil\"]\n\tclean = " + program + "\n");
    Git.init().setBare(true).setDirectory(root.resolve("remote").toFile()).call().close();
    configure("[remote \"origin\"]\n\turl = ../remote\n");

    callAllTools("run_hooks", true);

    assertFalse(Files.exists(marker), "a program was started");
  }

  @Test
  void aFilterOfTheUserDoesNotRun() throws Exception {
    Path program = program(folder.resolve("program"));
    setUserConfiguration(
        "[user]\n\tname = The User\n\temail = u@example.com\n[commit]\n\tgpgsign = true\n"
            + "[filter \"evil\"]\n\tclean = "
            + program
            + "\n\trequired = true\n");
    Files.writeString(work.resolve(".gitattributes"), TREE);
    Files.writeString(work.resolve("a.txt"), "two\n");
    GitTools tools = tools();

    call(tools, "git_diff");
    call(tools, "git_add", "paths", List.of("."));
    call(tools, "git_commit", "message", "second");

    assertFalse(Files.exists(marker), "a program was started");
    ObjectNode log = call(tools, "git_log", "max_count", 1);
    assertEquals("The User", log.at("/commits/0/author").asText());
  }

  @Test
  void theCommitterOfTheRepositoryIsUsed() throws Exception {
    configure("[user]\n\tname = Committer\n\temail = s@example.com\n");
    Files.writeString(work.resolve("a.txt"), "two\n");
    GitTools tools = tools();

    call(tools, "git_add", "paths", List.of("a.txt"));
    call(tools, "git_commit", "message", "second");

    ObjectNode log = call(tools, "git_log", "max_count", 1);
    assertEquals("Committer", log.at("/commits/0/author").asText());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[core]\n\tworktree = OUTSIDE\n",
        "[core]\n\tworktree = ../../../outside\n",
        "[core]\n\tbare = true\n",
        "[core]\n\texcludesFile = OUTSIDE/ignore\n",
        "[core]\n\tattributesFile = OUTSIDE/attributes\n",
        "[core]\n\tsymlinks = false\n"
      })
  void noSettingLeadsOutOfTheWorkTree(String setting) throws Exception {
    Files.writeString(outside.resolve("ignore"), "*\n");
    Files.writeString(outside.resolve("attributes"), "*.txt -text -diff\n");
    configure(setting.replace("OUTSIDE", outside.toString()));
    Files.writeString(work.resolve("a.txt"), "two\n");
    Files.writeString(work.resolve("b.txt"), "new\n");
    Files.createSymbolicLink(work.resolve("link.txt"), outside.resolve("secret.txt"));
    Files.createSymbolicLink(work.resolve("folder"), outside);
    GitTools tools = tools();

    ObjectNode status = call(tools, "git_status");
    assertEquals("[\"b.txt\",\"folder\",\"link.txt\"]", status.path("untracked").toString());
    assertTrue(call(tools, "git_diff").path("diff").asText().contains("+two"));
    call(tools, "git_add", "paths", List.of("."));
    call(tools, "git_add", "paths", List.of("folder/secret.txt"));

    String staged = call(tools, "git_diff", "staged", true).path("diff").asText();
    assertTrue(staged.contains("+new"), staged);
    assertFalse(staged.contains("the secret"), staged);
    assertFalse(staged.contains("folder/secret.txt"), staged);
  }

  @Test
  void aFileReplacedByALinkIsShownAsALink() throws Exception {
    Files.delete(work.resolve("a.txt"));
    Files.createSymbolicLink(work.resolve("a.txt"), outside.resolve("secret.txt"));
    configure("[core]\n\tsymlinks = false\n");
    GitTools tools = tools();

    String diff = call(tools, "git_diff").path("diff").asText();
    call(tools, "git_add", "paths", List.of("a.txt"));
    String staged = call(tools, "git_diff", "staged", true).path("diff").asText();

    assertTrue(diff.contains("120000") && staged.contains("120000"), diff + staged);
    assertFalse((diff + staged).contains("the secret"), diff + staged);
  }

  /** Entries that are moved out of the Git folder and replaced by a link. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HEAD",
        "config",
        "index",
        "objects",
        "refs",
        "refs/heads",
        "refs/heads/main",
        "logs",
        "logs/HEAD"
      })
  void aGitFolderThatContainsALinkIsRefused(String linked) throws Exception {
    Path moved = outside.resolve("moved");
    Files.move(git.resolve(linked), moved);
    Files.createSymbolicLink(git.resolve(linked), moved);

    assertRefused("'" + git.resolve(linked) + "' is a link");
  }

  @Test
  void aReflogThatIsADanglingLinkIsNotWritten() throws Exception {
    Files.delete(git.resolve("logs/HEAD"));
    Files.createSymbolicLink(git.resolve("logs/HEAD"), outside.resolve("profile"));

    assertRefused("is a link");

    assertFalse(Files.exists(outside.resolve("profile")));
  }

  @Test
  void aGitFolderThatIsALinkIsRefused() throws Exception {
    create(outside.resolve("other"));
    Path linked = Files.createDirectories(root.resolve("linked")).resolve(".git");
    Files.createSymbolicLink(linked, outside.resolve("other/.git"));

    assertRefused("linked", "is not a folder");
  }

  @Test
  void aGitFolderThatIsAFileIsRefused() throws Exception {
    create(outside.resolve("other"));
    Path linked = Files.createDirectories(root.resolve("linked")).resolve(".git");
    Files.writeString(linked, "gitdir: " + outside.resolve("other/.git") + "\n");

    assertRefused("linked", "is not a folder");
  }

  @Test
  void aCommonDirIsNotFollowed() throws Exception {
    create(outside.resolve("other"));
    Files.writeString(outside.resolve("other/b.txt"), "new\n");
    Files.writeString(git.resolve("commondir"), outside.resolve("other/.git") + "\n");
    Files.writeString(work.resolve("a.txt"), "two\n");
    GitTools tools = tools();

    call(tools, "git_add", "paths", List.of("."));
    call(tools, "git_commit", "message", "second");

    try (Git other = Git.open(outside.resolve("other").toFile())) {
      assertEquals("first", other.log().call().iterator().next().getFullMessage());
    }
  }

  @Test
  void objectsOfAnotherRepositoryAreRefused() throws Exception {
    create(outside.resolve("other"));
    Files.writeString(
        Files.createDirectories(git.resolve("objects/info")).resolve("alternates"),
        outside.resolve("other/.git/objects") + "\n");

    assertRefused("takes objects from another repository");
  }

  @Test
  void nestedRepositoriesAndSubmodulesAreIgnored() throws Exception {
    create(outside.resolve("other"));
    create(work.resolve("nested"));
    Files.writeString(
        Files.createDirectories(work.resolve("sub")).resolve(".git"),
        "gitdir: " + outside.resolve("other/.git") + "\n");
    Files.writeString(
        work.resolve(".gitmodules"), "[submodule \"sub\"]\n\tpath = sub\n\turl = ../other\n");
    stageSubmodule("sub");
    GitTools tools = tools();

    ObjectNode status = call(tools, "git_status");
    assertEquals("[\".gitmodules\"]", status.path("untracked").toString());
    assertEquals("[]", status.path("changed").toString());
    assertEquals("[\"sub\"]", status.path("staged").toString());
    String diff = call(tools, "git_diff").path("diff").asText();
    assertFalse(diff.contains("nested") || diff.contains("Subproject"), diff);
    assertEquals(
        "[\".gitmodules\",\"sub\"]",
        call(tools, "git_add", "paths", List.of(".")).path("staged").toString());
    call(tools, "git_commit", "message", "a submodule, as it was recorded");
    assertTrue(call(tools, "git_status").path("clean").asBoolean());
  }

  @Test
  void aStagedSubmoduleAloneCanBeCommitted() throws Exception {
    stageSubmodule("sub");
    GitTools tools = tools();

    call(tools, "git_commit", "message", "a submodule");

    assertThrows(IOException.class, () -> call(tools, "git_commit", "message", "nothing"));
  }

  @Test
  void fileNamesAreNotInterpreted() throws Exception {
    List<String> names = List.of("--force", "-rf", "a\nb.txt", "c\u001b[2Jd", "e\"f", ":(top)g");
    for (String name : names) {
      Files.writeString(work.resolve(name), "x\n");
    }
    GitTools tools = tools();

    for (String name : names) {
      call(tools, "git_add", "paths", List.of(name));
    }

    assertEquals(6, call(tools, "git_status").path("staged").size());
    String diff = call(tools, "git_diff", "staged", true).path("diff").asText();
    assertTrue(diff.contains("+++ \"b/a\\nb.txt\""), diff);
    assertFalse(diff.contains("\u001b"), diff);
    call(tools, "git_commit", "message", "--amend");
    assertEquals("--amend", call(tools, "git_log").at("/commits/0/message").asText());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "url = OUTSIDE/other.git",
        "url = file://OUTSIDE/other.git",
        "url = ../../outside/other.git",
        "url = ../link",
        "pushurl = OUTSIDE/other.git",
        "fetch = +refs/heads/*:refs/heads/*",
        "url = ext::touch MARKER",
        "url = ssh://-oProxyCommand=touch MARKER/x",
        "url = -oProxyCommand=x@example.com:y",
        "url = amazon-s3://key@bucket/x",
        "url = ../with-alternates.git"
      })
  void aPushDoesNotLeadOutOfTheRoots(String remote) throws Exception {
    Path other = outside.resolve("other.git");
    Git.init().setBare(true).setDirectory(other.toFile()).call().close();
    Files.createSymbolicLink(root.resolve("link"), other);
    Path borrowing = root.resolve("with-alternates.git");
    Git.init().setBare(true).setDirectory(borrowing.toFile()).call().close();
    Files.createDirectories(borrowing.resolve("objects/info"));
    Files.writeString(borrowing.resolve("objects/info/alternates"), other + "/objects\n");
    configure(
        "[remote \""
            + (remote.startsWith("fetch") ? other : "origin")
            + "\"]\n\t"
            + remote.replace("OUTSIDE", outside.toString()).replace("MARKER", marker.toString())
            + "\n");
    String name = remote.startsWith("fetch") ? other.toString() : "origin";

    assertThrows(Exception.class, () -> call(tools(), "git_push", "remote", name));

    assertFalse(Files.exists(marker));
    try (Git pushed = Git.open(other.toFile())) {
      assertTrue(pushed.branchList().call().isEmpty());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {":refs/heads/main", "+main:refs/heads/main", "*", "none"})
  void aBranchNameThatIsAPatternIsNotPushed(String branch) throws Exception {
    Path remote = root.resolve("remote.git");
    Git.init().setBare(true).setDirectory(remote.toFile()).call().close();
    configure("[remote \"origin\"]\n\turl = " + remote + "\n");
    call(tools(), "git_push");
    Files.writeString(git.resolve("HEAD"), "ref: refs/heads/" + branch + "\n");

    assertThrows(IOException.class, () -> call(tools(), "git_push"));

    try (Git pushed = Git.open(remote.toFile())) {
      assertEquals(1, pushed.branchList().call().size());
    }
  }

  @Test
  void aRepositoryOfAnotherUserMustBeTrusted() throws Exception {
    var other = root.getFileSystem().getUserPrincipalLookupService();
    String name = Files.getOwner(root).getName().equals("nobody") ? "root" : "nobody";
    var self = other.lookupPrincipalByName(name);
    List<Path> roots = List.of(root);
    GitTools strict = new GitTools(new Repositories(roots, List.of(), self), false);
    GitTools trusting = new GitTools(new Repositories(roots, roots, self), false);

    IOException refused = assertThrows(IOException.class, () -> call(strict, "git_status"));
    String listed = call(strict, "list_repositories").at("/repositories/0/refused").asText();

    assertTrue(refused.getMessage().endsWith("starts the server with --trust " + work));
    assertEquals(refused.getMessage(), listed);
    assertTrue(call(trusting, "git_status").path("clean").asBoolean());
  }

  @Test
  void largeResultsAreTruncated() throws Exception {
    Files.writeString(work.resolve("long.txt"), "0123456789\n".repeat(200_000));
    Files.writeString(work.resolve("huge.txt"), "0123456789\n".repeat(400_000));
    GitTools tools = tools();
    call(tools, "git_add", "paths", List.of("huge.txt"));

    String huge = call(tools, "git_diff", "staged", true).path("diff").asText();
    call(tools, "git_add", "paths", List.of("long.txt"));
    ObjectNode cut = call(tools, "git_diff", "staged", true, "path", "long.txt");
    call(tools, "git_commit", "message", "m".repeat(700_000));
    Files.writeString(work.resolve("a.txt"), "two\n");
    call(tools, "git_add", "paths", List.of("a.txt"));
    call(tools, "git_commit", "message", "n".repeat(700_000));
    ObjectNode log = call(tools, "git_log");

    assertTrue(huge.contains("Binary files"), huge.substring(0, Math.min(500, huge.length())));
    assertTrue(cut.path("truncated").asBoolean());
    assertEquals(1 << 20, cut.path("diff").asText().length());
    assertEquals(700_000, log.at("/commits/0/message").asText().length());
    assertEquals((1 << 20) - 700_000, log.at("/commits/1/message").asText().length());
    assertTrue(log.at("/commits/1/truncated").asBoolean());
  }

  /** The shortest diff of such files takes hours. */
  @Test
  void aDiffOfRepeatedLinesIsFast() throws Exception {
    Random random = new Random(1);
    Path file = work.resolve("a.txt");
    GitTools tools = tools();
    Files.writeString(file, lines(random));
    call(tools, "git_add", "paths", List.of("a.txt"));
    Files.writeString(file, lines(random));

    assertTrue(call(tools, "git_diff").path("truncated").asBoolean());
  }

  private static String lines(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 1_500_000; i++) {
      text.append((char) ('a' + random.nextInt(20))).append('\n');
    }
    return text.toString();
  }

  /** An index that declares two billion entries. */
  @Test
  void aCallThatRunsOutOfMemoryFailsAlone() throws Exception {
    ByteBuffer index = ByteBuffer.wrap(Files.readAllBytes(git.resolve("index")));
    Files.write(git.resolve("index"), index.putInt(8, Integer.MAX_VALUE).array());
    String call =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
            + "{\"name\":\"NAME\",\"arguments\":{\"repository\":\"work\"}}}\n";
    String lines = call.replace("NAME", "git_status") + call.replace("NAME", "git_log");
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    new GitServer(List.of(root), List.of(), false)
        .serve(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)), out);

    List<String> answers = out.toString(StandardCharsets.UTF_8).lines().toList();
    assertTrue(answers.get(0).contains("\"isError\":true"), answers.get(0));
    assertTrue(answers.get(1).contains("first"), answers.get(1));
  }

  @Test
  void aLargeOrInvalidConfigurationIsRefused() throws Exception {
    String right = Files.readString(git.resolve("config"));
    Files.writeString(git.resolve("config"), "#\n".repeat(1 << 20));
    assertRefused("is larger than");

    Files.writeString(git.resolve("config"), "[core\n");
    assertRefused("is not a valid Git configuration");

    Files.writeString(git.resolve("config"), right);
    assertTrue(call(tools(), "git_status").path("clean").asBoolean());
  }

  private void assertRefused(String reason) throws Exception {
    assertRefused("work", reason);
  }

  private void assertRefused(String name, String reason) throws Exception {
    GitTools tools = tools();
    for (String tool : List.of("git_status", "git_log", "git_diff", "git_add", "git_commit")) {
      Exception refused =
          assertThrows(
              Exception.class,
              () ->
                  tools.call(
                      tool, arguments("repository", name, "message", "x", "paths", List.of("."))));
      assertTrue(refused.getMessage().contains(reason), refused.getMessage());
    }
    String listed = call(tools, "list_repositories").path("repositories").toString();
    assertTrue(listed.contains("\"refused\""), listed);
  }

  /** Calls every tool once; returns the result of the push. */
  private ObjectNode callAllTools(Object... more) throws Exception {
    Files.writeString(work.resolve("a.txt"), "two\n");
    Files.writeString(work.resolve("b.txt"), "new\r\n");
    GitTools tools = tools();
    call(tools, "list_repositories");
    call(tools, "git_status");
    call(tools, "git_log", "path", "a.txt");
    call(tools, "git_diff");
    call(tools, "git_add", "paths", List.of("."));
    call(tools, "git_diff", "staged", true);
    ObjectNode commit = arguments(more).put("repository", "work").put("message", "second");
    tools.call("git_commit", commit);
    return tools.call("git_push", arguments(more).put("repository", "work"));
  }

  private GitTools tools() throws IOException {
    return new GitTools(new Repositories(List.of(root), List.of()), false);
  }

  private static ObjectNode call(GitTools tools, String name, Object... more) throws Exception {
    return tools.call(name, arguments(more).put("repository", "work"));
  }

  private static ObjectNode arguments(Object... more) {
    ObjectNode arguments = Json.object();
    for (int i = 0; i < more.length; i += 2) {
      String name = (String) more[i];
      if (more[i + 1] instanceof List<?> list) {
        list.forEach(value -> arguments.withArray(name).add((String) value));
      } else if (more[i + 1] instanceof Boolean flag) {
        arguments.put(name, flag);
      } else if (more[i + 1] instanceof Integer number) {
        arguments.put(name, number);
      } else {
        arguments.put(name, (String) more[i + 1]);
      }
    }
    return arguments;
  }

  private void configure(String text) throws IOException {
    Files.writeString(git.resolve("config"), text, StandardOpenOption.APPEND);
  }

  /** Creates a program that writes the marker file and copies its input to its output. */
  private Path program(Path at) throws IOException {
    Files.createDirectories(at.getParent());
    Files.writeString(at, "#!/bin/sh\necho >>" + marker + "\ncat\n");
    assertTrue(at.toFile().setExecutable(true));
    return at;
  }

  /** Stages a submodule like another Git implementation. */
  private void stageSubmodule(String submodule) throws Exception {
    try (Git opened = Git.open(work.toFile())) {
      DirCache index = opened.getRepository().lockDirCache();
      DirCacheBuilder builder = index.builder();
      for (int i = 0; i < index.getEntryCount(); i++) {
        builder.add(index.getEntry(i));
      }
      DirCacheEntry entry = new DirCacheEntry(submodule);
      entry.setFileMode(FileMode.GITLINK);
      entry.setObjectId(ObjectId.fromString("1234567890123456789012345678901234567890"));
      builder.add(entry);
      builder.commit();
    }
  }

  private void setUserConfiguration(String text) throws IOException {
    Path file = Files.writeString(folder.resolve("user"), text);
    SystemReader.setInstance(
        new SystemReader.Delegate(SystemReader.getInstance()) {
          @Override
          public FileBasedConfig openUserConfig(Config parent, FS files) {
            return new FileBasedConfig(parent, file.toFile(), files);
          }
        });
  }
}
