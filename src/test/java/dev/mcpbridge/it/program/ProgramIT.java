package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.Program;
import dev.mcpbridge.fixture.ServedBridge;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.protocol.Json;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.eclipse.jgit.api.Git;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The packaged program, started as a user would start it. */
@Tag("program")
@Tag("slow")
class ProgramIT {
  private static final String UNUSED_ADDRESS = "http://127.0.0.1:1";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();
  private String url;

  @BeforeEach
  void repository() throws Exception {
    try (Git git = Git.init().setDirectory(folder.resolve("work").toFile()).call()) {
      Files.writeString(folder.resolve("work/a.txt"), "one\n");
      git.add().addFilepattern(".").call();
      git.commit().setMessage("first").setAuthor("A", "a@example.com").setSign(false).call();
    }
  }

  @AfterEach
  void stop() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void defaultConfigurationServesGit() throws Exception {
    Process bridge = serve();

    JsonNode repositories = post("/servers/git/tools/list_repositories", "{}");
    assertEquals("work", repositories.at("/structuredContent/repositories/0/name").asText());
    Files.writeString(folder.resolve("work/a.txt"), "two\n");
    JsonNode status = post("/servers/git/tools/git_status", "{\"repository\":\"work\"}");
    assertEquals("a.txt", status.at("/structuredContent/changed/0").asText());
    JsonNode diff = post("/servers/git/tools/git_diff", "{\"repository\":\"work\"}");
    assertTrue(diff.at("/structuredContent/diff").asText().contains("+two"));
    post("/servers/git/tools/git_add", "{\"repository\":\"work\",\"paths\":[\".\"]}");
    JsonNode pending =
        post("/servers/git/tools/git_commit", "{\"repository\":\"work\",\"message\":\"second\"}");
    assertTrue(pending.path("requires_confirmation").asBoolean(), pending.toString());
    JsonNode commit = confirm(pending);
    assertEquals("second", commit.at("/structuredContent/message").asText(), commit.toString());
    JsonNode log = post("/servers/git/tools/git_log", "{\"repository\":\"work\",\"max_count\":1}");
    assertEquals("second", log.at("/structuredContent/commits/0/message").asText());

    bridge.destroy();
    assertTrue(bridge.waitFor(15, TimeUnit.SECONDS));
  }

  @Test
  void bannerWarnsThatProgramsCanBeStartedWithoutKeys() throws Exception {
    Path closed = folder.resolve("closed.json");
    Files.writeString(closed, "{\"http\":{\"allowStart\":false}}");

    String open = banner();

    assertTrue(open.contains("every local user may start programs as"), open);
    assertTrue(open.contains("http.allowStart"), open);
    String quiet = banner("--config", closed.toString());
    assertFalse(quiet.contains("warning"), quiet);
  }

  private String banner(String... more) throws Exception {
    Process bridge = launch(ServedBridge.command(more).toArray(String[]::new));
    StringBuilder banner = new StringBuilder();
    BufferedReader out = bridge.inputReader(StandardCharsets.UTF_8);
    for (String line = out.readLine(); !"Try:".equals(line); line = out.readLine()) {
      banner.append(Objects.requireNonNull(line, banner::toString)).append('\n');
    }
    return banner.toString();
  }

  @Test
  void gitStaysWithinItsRoots() throws Exception {
    serve();

    for (String path : List.of("..", "/etc", "../..")) {
      JsonNode refused =
          post("/servers/git/tools/register_repository", "{\"path\":\"" + path + "\"}");
      assertTrue(refused.path("isError").asBoolean(), refused.toString());
    }
    JsonNode escape =
        post(
            "/servers/git/tools/git_add",
            "{\"repository\":\"work\",\"paths\":[\"../../etc/passwd\"]}");
    assertTrue(escape.path("isError").asBoolean(), escape.toString());
  }

  @Test
  void confirmedPushReachesOnlyTheConfiguredRemote() throws Exception {
    Path remote = folder.resolve("remote.git");
    Git.init().setBare(true).setDirectory(remote.toFile()).call().close();
    try (Git git = Git.open(folder.resolve("work").toFile())) {
      git.remoteAdd()
          .setName("origin")
          .setUri(new org.eclipse.jgit.transport.URIish(remote.toString()))
          .call();
    }
    serve();
    JsonNode pending = post("/servers/git/tools/git_push", "{\"repository\":\"work\"}");
    try (Git git = Git.open(remote.toFile())) {
      assertTrue(git.branchList().call().isEmpty(), "pushed before it was confirmed");
    }

    JsonNode pushed = confirm(pending);

    assertEquals("OK", pushed.at("/structuredContent/updates/0/status").asText(), "" + pushed);
    try (Git git = Git.open(remote.toFile())) {
      assertEquals(1, git.branchList().call().size());
    }
    JsonNode otherRemote =
        confirm(
            post(
                "/servers/git/tools/git_push",
                "{\"repository\":\"work\",\"remote\":\"/tmp/elsewhere\"}"));
    assertTrue(otherRemote.path("isError").asBoolean(), otherRemote.toString());
  }

  @Test
  void hooksRunOnlyIfAllowedAndShownInTheApproval() throws Exception {
    Path marker = folder.resolve("marker");
    Path hook = folder.resolve("work/.git/hooks/pre-commit");
    Files.createDirectories(hook.getParent());
    Files.writeString(hook, "#!/bin/sh\necho on stdout\necho >" + marker + "\n");
    assertTrue(hook.toFile().setExecutable(true));
    Files.writeString(folder.resolve("work/a.txt"), "two\n");
    Path config = folder.resolve("hooks.json");
    Files.writeString(
        config,
        TestBridge.json(
            "{'mcpServers':{"
                + "'git':{'builtin':'git','args':['--root','.'],'risk':{'tools':{'git_commit':2}}},"
                + "'hooks':{'builtin':'git','args':['--root','.','--allow-hooks'],'riskLevel':1}}}"));
    serve("--config", config.toString());
    String message = "{\"repository\":\"work\",\"message\":\"second\"";
    post("/servers/git/tools/git_add", "{\"repository\":\"work\",\"paths\":[\".\"]}");

    JsonNode commit = confirm(post("/servers/git/tools/git_commit", message + "}"));
    assertEquals("second", commit.at("/structuredContent/message").asText(), commit.toString());
    assertFalse(Files.exists(marker));

    Files.writeString(folder.resolve("work/a.txt"), "three\n");
    post("/servers/git/tools/git_add", "{\"repository\":\"work\",\"paths\":[\".\"]}");
    JsonNode withoutHooks = post("/servers/hooks/tools/git_commit", message + "}");
    assertFalse(withoutHooks.path("requires_confirmation").asBoolean(), withoutHooks.toString());
    JsonNode pending = post("/servers/hooks/tools/git_commit", message + ",\"run_hooks\":true}");
    assertTrue(pending.at("/arguments/run_hooks").asBoolean(), pending.toString());
    assertFalse(Files.exists(marker));
    JsonNode withHooks = confirm(pending);
    assertEquals(
        "second", withHooks.at("/structuredContent/message").asText(), withHooks.toString());
    assertTrue(Files.exists(marker));
  }

  @Test
  void namedPipesInARepositoryDoNotBlock() throws Exception {
    serve();
    pipe(folder.resolve("work/pipe"));
    pipe(folder.resolve("work/.gitignore"));

    JsonNode added =
        post("/servers/git/tools/git_add", "{\"repository\":\"work\",\"paths\":[\".\"]}");
    assertTrue(added.at("/structuredContent/clean").asBoolean(), added.toString());
    pipe(folder.resolve("work/.git/MERGE_HEAD"));
    JsonNode refused = post("/servers/git/tools/git_status", "{\"repository\":\"work\"}");
    assertTrue(refused.path("isError").asBoolean(), refused.toString());
    assertTrue(refused.toString().contains("MERGE_HEAD"), refused.toString());
  }

  private static void pipe(Path path) throws Exception {
    assertEquals(0, new ProcessBuilder("mkfifo", path.toString()).start().waitFor());
  }

  private JsonNode confirm(JsonNode pending) throws Exception {
    return post(
        "/confirmations/" + pending.path("confirmation_id").asText(),
        "{\"confirm\":true,\"token\":\"" + pending.path("token").asText() + "\"}");
  }

  @Test
  void changedFileIsAppliedAndAnInvalidOneRejected() throws Exception {
    Path config = folder.resolve("live.json");
    String first = "{'mcpServers':{'s':" + TestBridge.entry("") + "}}";
    Files.writeString(config, TestBridge.json(first));
    Process bridge = serve("--config", config.toString());
    long pid = pid("s");

    Files.writeString(
        config, TestBridge.json(first.replace("}}", "},'t':" + TestBridge.entry("") + "}")));
    until(() -> get("/servers/t").path("state").asText().equals("ready"));
    Path log = folder.resolve("err-0");
    Files.writeString(
        config,
        TestBridge.json(
            "{'http':{'port':9,'hosts':['h']},'limits':{'depth':9},'mcpServers':{'s':"
                + TestBridge.entry("")
                + ",'t':"
                + TestBridge.entry("")
                + "}}"));
    until(
        () ->
            Files.readString(log)
                .contains("needs a restart of the bridge: http.port, limits.depth\n"));
    Files.writeString(config, "{\"mcpServers\":{\"u\":{\"command\":\"x\",\"riskLevel\":9}}}");
    until(() -> Files.readString(log).contains("mcpServers.u.riskLevel"));

    assertEquals(pid, pid("s"));
    assertEquals("ready", get("/servers/t").path("state").asText());
    assertTrue(bridge.isAlive());
  }

  @Test
  void fileIsAppliedAfterOneWithAnInvalidEntry() throws Exception {
    Path config = folder.resolve("live.json");
    String valid = TestBridge.json("{'mcpServers':{'s':" + TestBridge.entry("") + "}}");
    Files.writeString(config, "{\"mcpServers\":{\"u\":5}}");
    serve("--config", config.toString());
    assertEquals("failed", get("/servers/u").path("state").asText());
    Path log = folder.resolve("err-0");

    for (String invalid : List.of("null", "[]", "\"x\"")) {
      int logged = Files.readString(log).length();
      Files.writeString(config, "{\"mcpServers\":{\"v\":" + invalid + "}}");
      until(() -> Files.readString(log).substring(logged).contains("mcpServers.v"));
    }
    Files.writeString(config, valid);

    until(() -> get("/servers/s").path("state").asText().equals("ready"));
  }

  @Test
  void startAndCallLoadNothingThatTheyDoNotUse() throws Exception {
    Path classes = folder.resolve("classes");
    Process bridge = launch(serving(List.of(), "-Xlog:class+load:file=" + classes));
    awaitBanner(bridge);
    post("/servers/git/tools/git_status", "{\"repository\":\"work\"}");

    String loaded = Files.readString(classes);

    assertTrue(loaded.contains("dev.mcpbridge.protocol.TreeReader "), "no classes were logged");
    assertFalse(loaded.contains("dev.mcpbridge.protocol.Json$Mapper "));
    assertFalse(loaded.contains("jdk.jfr.internal.MetadataRepository "));
    for (String unused :
        List.of(
            "com.nimbusds.",
            "io.opentelemetry.",
            "io.vertx.ext.web.client.",
            "org.apache.zookeeper.")) {
      assertFalse(loaded.contains(unused), unused);
    }
  }

  @Test
  void bridgeRecoversFromExhaustedDescriptors() throws Exception {
    Process bridge = launch(serving(List.of("bash", "-c", "ulimit -n 256; exec \"$@\"", "-")));
    awaitBanner(bridge);
    List<java.net.Socket> sockets = new ArrayList<>();
    URI uri = URI.create(url);
    for (int i = 0; i < 400; i++) {
      java.net.Socket socket = new java.net.Socket();
      sockets.add(socket);
      try {
        socket.connect(new java.net.InetSocketAddress(uri.getHost(), uri.getPort()), 200);
      } catch (java.io.IOException e) {
        break;
      }
    }
    for (java.net.Socket socket : sockets) {
      socket.close();
    }

    until(() -> post("/servers/git/tools/list_repositories", "{}").has("structuredContent"));
  }

  @Test
  void commandsUseARunningBridge() throws Exception {
    serve();

    String tools = run(0, "tools", "--url", url);
    assertTrue(tools.matches("(?s).*git git_status +1 \\(none\\).*"), tools);
    assertTrue(tools.matches("(?s).*git git_commit +2 \\(tool\\).*"), tools);
    assertTrue(
        run(0, "call", "git", "git_log", "repository=work", "max_count=1", "--url", url)
            .contains("first"));
    run(3, "call", "git", "git_commit", "repository=work", "message=x", "--url", url);
    assertTrue(run(0, "confirm", "--url", url).contains("git_commit"));
    run(1, "call", "git", "nope", "--url", url);
    run(2, "call");
    assertTrue(run(0, "--version").contains("mcp-bridge"));
    assertTrue(run(0, "key", "new", "edge").contains("\"sha256\":\""));
    assertTrue(run(0, "generate-completion").contains("complete"));
    Path invalid = folder.resolve("wrong.json");
    Files.writeString(invalid, "{\"http\":{\"port\":\"x\"}}");
    assertTrue(run(1, "check", invalid.toString()).contains("http.port"));
    Files.writeString(invalid, "{\"mcpServer\":{\"s\":{\"command\":\"x\"}}}");
    assertTrue(run(1, "check", invalid.toString()).contains("did you mean mcpServers?"));
    Files.writeString(invalid, "{\"servers\":{\"s\":{\"command\":\"no-such-program\"}}}");
    assertTrue(run(0, "check", invalid.toString()).contains("warning: servers.s.command"));
  }

  @Test
  void stdioServesAnEmbeddedOrARunningBridge() throws Exception {
    String lines =
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\",\"params\":{"
            + "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}\n"
            + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
            + "no message\n"
            + "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
            + "{\"name\":\"git_status\",\"arguments\":{\"repository\":\"work\"}}}\n";

    List<String> embedded = pipe(lines, "stdio", "--server", "git");
    assertEquals(3, embedded.size(), embedded.toString());
    assertTrue(embedded.get(0).startsWith("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":"));
    assertTrue(embedded.stream().anyMatch(l -> l.contains("-32700")), embedded.toString());
    assertTrue(embedded.stream().anyMatch(l -> l.contains("\"id\":7") && l.contains("branch")));

    serve();
    List<String> running = pipe(lines, "stdio", "--server", "git", "--url", url);
    assertTrue(running.stream().anyMatch(l -> l.contains("\"id\":7") && l.contains("branch")));

    String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    List<String> unreachable = pipe(1, ping, "stdio", "--url", UNUSED_ADDRESS);
    assertEquals(1, unreachable.size());
    assertTrue(unreachable.get(0).contains("\"id\":1") && unreachable.get(0).contains("-32603"));
    assertTrue(
        unreachable.get(0).contains("There is no bridge at " + UNUSED_ADDRESS), unreachable.get(0));
    assertNoBridge(lastError());
    assertEquals(List.of(), pipe(1, "", "stdio", "--url", UNUSED_ADDRESS));
    assertNoBridge(lastError());
  }

  @Test
  void commandsReportAnUnreachableBridgeInOneLine() throws Exception {
    for (String[] command : new String[][] {{"tools"}, {"call", "git", "git_log"}, {"confirm"}}) {
      List<String> words = new ArrayList<>(List.of(command));
      words.addAll(List.of("--url", UNUSED_ADDRESS));
      assertNoBridge(run(1, words.toArray(String[]::new)));
    }
  }

  @Test
  void portInUseIsReportedInOneLine() throws Exception {
    try (ServerSocket occupied = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(occupied.getLocalPort());

      String output = run(1, "serve", "--port", port);

      assertEquals(1, output.lines().count(), output);
      assertTrue(output.startsWith("cannot start: 127.0.0.1:" + port), output);
      assertTrue(output.contains("--port"), output);
    }
  }

  /** An audit trail of a million records takes three times as long without the second compiler. */
  @ParameterizedTest
  @CsvSource({
    "serve, true",
    "stdio, true",
    "git-server, true",
    "audit, true",
    "access, true",
    "call, false",
    "agent, false",
    "--version, false"
  })
  void launcherKeepsTheSecondCompilerForWhatTakesLong(String command, boolean isKept)
      throws Exception {
    Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\necho \"$@\"\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
    String home = "JAVA_HOME=" + folder.resolve("jdk");

    String options =
        Program.output(0, List.of("env", home, System.getProperty("bridge.launcher"), command));

    assertTrue(options.strip().endsWith("mcp-bridge.jar " + command), options);
    assertEquals(isKept, !options.contains("-XX:TieredStopAtLevel=1"), options);
  }

  private static void assertNoBridge(String output) {
    assertEquals(1, output.lines().count(), output);
    assertTrue(output.startsWith("There is no bridge at " + UNUSED_ADDRESS), output);
    assertTrue(output.contains("mcp-bridge serve"), output);
  }

  private String lastError() throws Exception {
    return Files.readString(folder.resolve("err-" + (started.size() - 1)));
  }

  private List<String> pipe(String input, String... arguments) throws Exception {
    return pipe(0, input, arguments);
  }

  private List<String> pipe(int status, String input, String... arguments) throws Exception {
    Process process = launch(PackagedProgram.command(arguments).toArray(String[]::new));
    process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(status, process.waitFor());
    return output.lines().toList();
  }

  private Process serve(String... more) throws Exception {
    Process bridge = launch(ServedBridge.command(more).toArray(String[]::new));
    awaitBanner(bridge);
    return bridge;
  }

  /** The command for serve, run by another program and with options for Java. */
  private static String[] serving(List<String> runner, String... options) {
    List<String> command = ServedBridge.command();
    command.addAll(command.indexOf("-jar"), List.of(options));
    command.addAll(0, runner);
    return command.toArray(String[]::new);
  }

  /** Its orphans are left to the bridges of this test. */
  private Process launch(String... command) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(folder.resolve("err-" + started.size()).toFile());
    builder.environment().put("XDG_RUNTIME_DIR", folder.toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private void awaitBanner(Process bridge) throws Exception {
    url = ServedBridge.url(bridge);
  }

  private String run(int status, String... arguments) throws Exception {
    Process process =
        new ProcessBuilder(PackagedProgram.command(arguments))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(status, process.waitFor(), output);
    return output;
  }

  private long pid(String server) throws Exception {
    until(() -> get("/servers/" + server).path("state").asText().equals("ready"));
    return get("/servers/" + server).path("pid").asLong();
  }

  private static void until(java.util.concurrent.Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (true) {
      try {
        if (condition.call()) {
          return;
        }
      } catch (java.io.IOException e) {
        // not yet
      }
      assertTrue(System.nanoTime() < deadline, "the condition did not become true in time");
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private JsonNode get(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(url + path)));
  }

  private JsonNode post(String path, String body) throws Exception {
    return send(
        HttpRequest.newBuilder(URI.create(url + path))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private static JsonNode send(HttpRequest.Builder request) throws Exception {
    return Json.mapper()
        .readTree(CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString()).body());
  }
}
