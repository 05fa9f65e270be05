package dev.mcpbridge.http.reply;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompressionTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "gzip",
        "GZip",
        "x-gzip",
        "gzip, deflate, br, zstd",
        "br;q=1.0, gzip;q=0.001",
        "deflate , gzip ; q=1",
        "*",
        "identity;q=0, *;q=0.5"
      })
  void gzipIsAccepted(String acceptEncoding) {
    assertTrue(Compression.accepts(acceptEncoding));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "identity",
        "br, deflate",
        "gzip;q=0",
        "gzip; q=0.000",
        "gzip;q=0, *",
        "*, gzip;q=0",
        "*;q=0",
        "gzipped",
        "notgzip",
        ";;;,,,"
      })
  void gzipIsNotAccepted(String acceptEncoding) {
    assertFalse(Compression.accepts(acceptEncoding));
  }
}
