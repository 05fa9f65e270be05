package dev.mcpbridge.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.mcpbridge.cli.doctor.Finding.Severity;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.fixture.Authority;
import dev.mcpbridge.fixture.LocalServer;
import io.vertx.core.Vertx;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is found on this machine, with configurations that are right and wrong. */
class DoctorTest {
  @TempDir Path folder;

  private List<Finding> examine(String singleQuoted) throws Exception {
    Path file = folder.resolve("bridge.json");
    Files.writeString(file, singleQuoted.replace('\'', '"'));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    BridgeConfig config =
        new ConfigReader(Map.of()).read(Files.readString(file), ConfigReader.Strictness.PER_SERVER);
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
  void certificatesAreJudgedByTheirTime() throws Exception {
    Path file =
        Authority.create(folder.resolve("ca"))
            .certificateFiles("tls", "dns:localhost", "-validity", "100")
            .resolve("cert.pem");
    Instant now = Instant.now();

    assertEquals(Severity.OK, CertificateExamination.of("c", file, now).severity());
    assertEquals(
        Severity.WARNING,
        CertificateExamination.of("c", file, now.plus(Duration.ofDays(90))).severity());
    Finding expired = CertificateExamination.of("c", file, now.plus(Duration.ofDays(101)));
    assertEquals(Severity.PROBLEM, expired.severity());
    assertTrue(expired.detail().startsWith("expired at "));
    assertTrue(
        CertificateExamination.of("c", file, now.minus(Duration.ofDays(30)))
            .detail()
            .startsWith("not valid before "));
    Path garbage = Files.writeString(folder.resolve("garbage.pem"), "no certificate");
    assertEquals(Severity.PROBLEM, CertificateExamination.of("c", garbage, now).severity());
  }

  @Test
  void limitsThatAreTooLowAreWarnings() {
    List<Finding> findings = MachineExamination.of(100_000_000, 1);

    assertEquals(Severity.WARNING, of(findings, "open files").severity());
  }

  @Test
  void textsOfOthersCannotForgeLines() {
    String line = Finding.problem("server x", "a\nok       all: is well\u001b[2J", "").toString();

    assertEquals(1, line.lines().count());
    assertFalse(line.contains("\u001b"));
  }

  @Test
  void aBundleIsForItsOwnerOnlyAndReplacesNoFile() throws Exception {
    Path file = folder.resolve("b.zip");

    SupportBundle.write(file, Map.of("a.txt", "text"));

    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertThrows(
        FileAlreadyExistsException.class, () -> SupportBundle.write(file, Map.of("a.txt", "b")));
  }
}
