package dev.mcpbridge.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;

/** Examines how long the certificates of a PEM file are valid. */
final class CertificateExamination {
  private static final Duration SOON = Duration.ofDays(21);

  private CertificateExamination() {}

  static Finding of(String subject, Path file, Instant now) {
    try (InputStream in = Files.newInputStream(file)) {
      Collection<? extends Certificate> chain =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      Instant end = Instant.MAX;
      Instant begin = Instant.MIN;
      for (Certificate each : chain) {
        X509Certificate certificate = (X509Certificate) each;
        Instant until = certificate.getNotAfter().toInstant();
        Instant since = certificate.getNotBefore().toInstant();
        end = until.isBefore(end) ? until : end;
        begin = since.isAfter(begin) ? since : begin;
      }
      return chain.isEmpty()
          ? Finding.problem(subject, file + " has no certificate", "Write the chain in PEM form")
          : judge(subject, begin, end, now);
    } catch (IOException | CertificateException e) {
      return Finding.problem(
          subject, file + " cannot be read as certificates", "Check the file and its permissions");
    }
  }

  private static Finding judge(String subject, Instant begin, Instant end, Instant now) {
    if (now.isBefore(begin)) {
      return Finding.problem(
          subject, "not valid before " + begin, "Check the clock, or replace the certificate");
    }
    if (now.isAfter(end)) {
      return Finding.problem(subject, "expired at " + end, "Replace it, and restart the bridge");
    }
    return now.plus(SOON).isAfter(end)
        ? Finding.warning(subject, "expires at " + end, "Replace it, and restart the bridge")
        : Finding.ok(subject, "valid until " + end);
  }
}
