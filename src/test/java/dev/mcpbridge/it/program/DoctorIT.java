package dev.mcpbridge.it.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.mcpbridge.auth.ApiKeys;
import dev.mcpbridge.cli.doctor.Doctor;
import dev.mcpbridge.cli.doctor.Finding;
import dev.mcpbridge.cli.doctor.Finding.Severity;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.NodeOptions;
import dev.mcpbridge.fixture.LocalServer;
import dev.mcpbridge.fixture.NoticeReceiver;
import dev.mcpbridge.fixture.PackagedProgram;
import dev.mcpbridge.fixture.TestBridge;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command doctor, beside a bridge that runs and with one that cannot. */
@Tag("program")
class DoctorIT {
  @TempDir Path folder;

  private String doctor(int status, String config, String... more) throws Exception {
    Path file = Files.writeString(folder.resolve("bridge.json"), config.replace('\'', '"'));
    List<String> arguments = new ArrayList<>(List.of("doctor", "--config", file.toString()));
    arguments.addAll(List.of(more));
    return PackagedProgram.output(status, arguments.toArray(String[]::new));
  }

  @Test
  void aBridgeThatRunsIsFoundAndPackedWithoutSecrets() throws Exception {
    Path bundle = folder.resolve("support.zip");
    try (TestBridge bridge = TestBridge.scripted("")) {
      String shown =
          doctor(
              0,
              "{'http':{'port':"
                  + bridge.port()
                  + "},'mcpServers':{'s':{'command':'sh','args':['hushhush'],"
                  + "'env':{'API_KEY':'hushhush'}}}}",
              "--url",
              bridge.uri("").toString(),
              "--bundle",
              bundle.toString());

      assertTrue(shown.contains("an MCP Bridge listens there"), shown);
      assertTrue(shown.contains("problems: 0"), shown);
    }
    Map<String, String> texts = texts(bundle);
    assertEquals(
        List.of("findings.txt", "configuration.json", "health.txt", "cluster.txt"),
        List.copyOf(texts.keySet()));
    assertTrue(texts.toString().contains("\"status\" : \"ok\""), texts.toString());
    assertFalse(texts.toString().contains("hush"), texts.toString());
  }

  private static Map<String, String> texts(Path bundle) throws IOException {
    Map<String, String> texts = new LinkedHashMap<>();
    try (ZipFile zip = new ZipFile(bundle.toFile())) {
      for (ZipEntry entry : zip.stream().toList()) {
        byte[] bytes = zip.getInputStream(entry).readAllBytes();
        texts.put(entry.getName(), new String(bytes, StandardCharsets.UTF_8));
      }
    }
    return texts;
  }

  @Test
  void problemsAreNamedWithWhatToDoAndTheExitCode() throws Exception {
    String shown = doctor(1, "{'mcpServers':{'s':{'command':'no-such-program'}}}");

    assertTrue(shown.contains("problem  server s: the command 'no-such-program'"), shown);
    assertTrue(shown.contains("Install it, write its whole path"), shown);
    assertTrue(shown.contains("problems: 1"), shown);
  }

  @Test
  void anInvalidConfigurationIsAFindingToo() throws Exception {
    String shown = doctor(1, "{'http':{'prot':1}}");

    assertTrue(shown.contains("problem  configuration: "), shown);
    assertTrue(shown.contains("prot"), shown);
  }

  @Test
  void anExistingFileIsNotReplacedByABundle() throws Exception {
    Path bundle = Files.writeString(folder.resolve("mine.zip"), "mine");

    doctor(1, "{'mcpServers':{}}", "--bundle", bundle.toString());

    assertEquals("mine", Files.readString(bundle));
  }

  private List<Finding> examine(String singleQuoted) throws Exception {
    return examine(singleQuoted, null);
  }

  private List<Finding> examine(String singleQuoted, NodeOptions node) throws Exception {
    Path file = folder.resolve("bridge.json");
    Files.writeString(file, singleQuoted.replace('\'', '"'));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    BridgeConfig config =
        new ConfigReader(Map.of(), node)
            .read(Files.readString(file), ConfigReader.Strictness.PER_SERVER);
    return new Doctor(config, new ConfigFile(file), Map.of("HOME", folder.toString())).examine();
  }

  private static Finding of(List<Finding> findings, String subject) {
    return findings.stream()
        .filter(finding -> finding.subject().equals(subject))
        .findFirst()
        .orElseThrow(() -> new AssertionError(subject + " is not in " + findings));
  }

  private static String closedPort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return Integer.toString(socket.getLocalPort());
    }
  }

  @Test
  void aRightConfigurationHasNoProblem() throws Exception {
    List<Finding> findings =
        examine("{'http':{'port':" + closedPort() + "},'mcpServers':{'s':{'command':'sh'}}}");

    assertEquals(
        List.of(), findings.stream().filter(each -> each.severity() == Severity.PROBLEM).toList());
    assertTrue(of(findings, "server s").detail().endsWith("/sh"));
    assertTrue(of(findings, "Java").detail().startsWith(Runtime.version().toString()));
  }

  @Test
  void serversThatCannotBeStartedOrReachedAreProblems() throws Exception {
    String port = closedPort();
    List<Finding> findings =
        examine(
            ("{'mcpServers':{'lost':{'command':'no-such-program'},"
                    + "'adrift':{'command':'sh','cwd':'/no/such/folder'},"
                    + "'typo':{'command':'sh','riskk':1},"
                    + "'shut':{'type':'http','url':'http://127.0.0.1:%s/mcp'},"
                    + "'rpc':{'type':'grpc','url':'grpc://127.0.0.1:%s'},"
                    + "'nowhere':{'type':'http','url':'https://no-such-host.invalid/'}}}")
                .formatted(port, port));

    for (String server : List.of("lost", "adrift", "typo", "shut", "rpc", "nowhere")) {
      Finding finding = of(findings, "server " + server);
      assertEquals(Severity.PROBLEM, finding.severity(), finding.toString());
      assertFalse(finding.advice().isEmpty());
    }
    assertTrue(of(findings, "server lost").detail().contains("'no-such-program' is not found"));
    assertTrue(
        of(findings, "server adrift").detail().contains("no such directory: /no/such/folder"),
        of(findings, "server adrift").toString());
    assertTrue(
        of(findings, "server typo").detail().contains("riskk"),
        of(findings, "server typo").toString());
    assertTrue(of(findings, "server nowhere").detail().contains("is unknown"));
  }

  @Test
  void issuersWebhooksCollectorAndNodesAreConnected() throws Exception {
    try (NoticeReceiver there = new NoticeReceiver();
        ServerSocket node = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      // Given
      String closed = closedPort();
      String up = there.url().replace("/hook?room=7", "");
      String config =
          ("{'auth':{'issuers':[{'name':'up','issuer':'%1$s'},{'name':'down','issuer':'%2$s'}]},"
                  + "'webhooks':[%3$s],'telemetry':{'otlp':{'endpoint':'%2$s'}},"
                  + "'cluster':{'members':['127.0.0.1:7801','127.0.0.1:%4$d','127.0.0.1:%5$s'],"
                  + "'secret':'sixteen letters.'},'mcpServers':{}}")
              .formatted(
                  up, "http://127.0.0.1:" + closed, there.webhook(""), node.getLocalPort(), closed);

      // When
      List<Finding> findings = examine(config, new NodeOptions("127.0.0.1", 7801, null));

      // Then
      assertEquals(Severity.OK, of(findings, "issuer up").severity());
      assertEquals(Severity.OK, of(findings, "webhook").severity());
      assertEquals(Severity.OK, of(findings, "node 127.0.0.1:" + node.getLocalPort()).severity());
      for (String subject : List.of("issuer down", "telemetry.otlp")) {
        assertEquals(Severity.PROBLEM, of(findings, subject).severity());
        assertTrue(of(findings, subject).detail().contains("cannot be connected"));
      }
      Finding missing = of(findings, "node 127.0.0.1:" + closed);
      assertEquals(Severity.WARNING, missing.severity());
      assertTrue(missing.advice().contains("majority"), missing.toString());
      assertFalse(findings.toString().contains("whsec_"), findings.toString());
      assertFalse(findings.toString().contains("sixteen"), findings.toString());
    }
  }

  @Test
  void aClockThatDiffersIsAWarning() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      URI server =
          LocalServer.listen(
              vertx,
              request ->
                  request
                      .response()
                      .putHeader("date", "Thu, 01 Jan 2026 00:00:00 GMT")
                      .setStatusCode(405)
                      .end());
      List<Finding> findings =
          examine("{'mcpServers':{'r':{'type':'http','url':'" + server + "/mcp'}}}");

      assertEquals(Severity.OK, of(findings, "server r").severity());
      Finding clock = of(findings, "clock");
      assertEquals(Severity.WARNING, clock.severity());
      assertTrue(clock.detail().contains("127.0.0.1 by -"), clock.detail());
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void aPortThatAnotherProgramHasIsAProblem() throws Exception {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.start();
    try {
      int port = other.getAddress().getPort();
      List<Finding> findings = examine("{'http':{'port':" + port + "},'mcpServers':{}}");

      Finding listener = of(findings, "listener 127.0.0.1:" + port);
      assertEquals(Severity.PROBLEM, listener.severity(), listener.toString());
    } finally {
      other.stop(0);
    }
  }

  @Test
  void foldersAreExaminedWithoutCreatingThem() throws Exception {
    Path file = Files.createFile(folder.resolve("a-file"));
    List<Finding> findings =
        examine("{'audit':{'folder':'" + file.resolve("audit") + "'},'mcpServers':{}}");

    assertEquals(Severity.PROBLEM, of(findings, "audit.folder").severity());
    assertEquals(Severity.OK, of(findings, "state").severity());
    assertFalse(Files.exists(folder.resolve(".local")));
  }

  @Test
  void aConfigurationThatOthersCanWriteIsAWarning() throws Exception {
    examine("{'mcpServers':{}}");
    Path file = folder.resolve("bridge.json");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-r--"));
    BridgeConfig config =
        new ConfigReader(Map.of()).read(Files.readString(file), ConfigReader.Strictness.PER_SERVER);

    List<Finding> findings =
        new Doctor(config, new ConfigFile(file), Map.of("HOME", folder.toString())).examine();

    assertEquals(Severity.WARNING, of(findings, "configuration").severity());
  }

  @Test
  void healthOfABridgeIsAnExitCode() throws Exception {
    String url;
    try (TestBridge bridge = TestBridge.scripted("")) {
      url = bridge.uri("").toString();
      assertEquals("ready", PackagedProgram.output(0, "health", "--url", url).strip());
      assertEquals("ok", PackagedProgram.output(0, "health", "--live", "--url", url).strip());
    }
    assertTrue(PackagedProgram.output(1, "health", "--url", url).contains("There is no bridge at"));
  }

  @Test
  void aBridgeWithKeysIsLiveWithoutOne() throws Exception {
    String key = ApiKeys.generate();
    String keys = TestBridge.auth(TestBridge.key("x", key, "'read'"));
    try (TestBridge bridge = TestBridge.of("{" + keys + ",'mcpServers':{}}")) {
      String url = bridge.uri("").toString();

      String live = PackagedProgram.output(0, "health", "--live", "--url", url);
      String ready = PackagedProgram.output(1, "health", "--url", url);

      assertEquals("ok", live.strip());
      assertTrue(ready.contains("A valid API key is required"), ready);
    }
  }

  @Test
  void aBundleRepeatsNoValueOfAnInvalidConfiguration() throws Exception {
    Path bundle = folder.resolve("support.zip");

    String shown =
        doctor(
            1,
            "{'auth':{'keys':[{'name':'a','sha256':'hushhushhush','scopes':['read']}]}}",
            "--bundle",
            bundle.toString(),
            "--url",
            "http://127.0.0.1:9");

    assertTrue(shown.contains("auth.keys[0].sha256"), shown);
    assertFalse(texts(bundle).toString().contains("hush"), texts(bundle).toString());
  }

  @Test
  void whatCannotBeExaminedHidesNoOtherFinding() throws Exception {
    List<Finding> findings =
        examine(
            "{'telemetry':{'otlp':{'endpoint':'http://user:hush@otel_collector:4318'}},"
                + "'http':{'host':'::1'},'mcpServers':{'lost':{'command':'no-such-program'}}}");

    assertEquals(Severity.PROBLEM, of(findings, "telemetry.otlp").severity());
    assertEquals(Severity.PROBLEM, of(findings, "server lost").severity());
    assertFalse(findings.toString().contains("hush"), findings.toString());
  }

  @Test
  void aProgramOnThePortThatNeverEndsItsAnswerIsNoBridge() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      URI endless =
          LocalServer.listen(
              vertx, request -> request.response().setChunked(true).write("{\"name\":"));
      List<Finding> findings =
          examine("{'http':{'port':" + endless.getPort() + "},'mcpServers':{}}");

      assertEquals(
          Severity.PROBLEM, of(findings, "listener 127.0.0.1:" + endless.getPort()).severity());
    } finally {
      vertx.close().await();
    }
  }
}
