package dev.mcpbridge.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cli.doctor.Finding.Severity;
import dev.mcpbridge.fixture.Authority;
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

/** What is found in files and limits, and how it is told. */
class FindingTest {
  @TempDir Path folder;

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

    assertEquals(Severity.WARNING, findings.get(2).severity());
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
