package dev.mcpbridge.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of the key that signs checkpoints. */
class AuditKeyTest {
  @TempDir private Path folder;

  @Test
  void keyIsReadAgainAlsoWithWindowsLineEndsAndTextAroundIt() throws Exception {
    AuditKey created = AuditKey.in(folder, true);
    Path file = folder.resolve("audit.pub");
    Files.writeString(file, "a comment\r\n" + Files.readString(file).replace("\n", "\r\n"));

    AuditKey read = AuditKey.in(folder, false);

    assertEquals(created.publicKey(), read.publicKey());
    assertTrue(AuditKey.isSigned(AuditKey.publicKey(file), "text", read.sign("text")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no key",
        "-----BEGIN PUBLIC KEY-----\nAAAA",
        "-----BEGIN PUBLIC KEY-----\n%%%%\n-----END PUBLIC KEY-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      })
  void fileWithoutAKeyIsNamed(String text) throws Exception {
    Path file = Files.writeString(folder.resolve("other.pub"), text);

    IOException failure = assertThrows(IOException.class, () -> AuditKey.publicKey(file));

    assertTrue(failure.getMessage().contains("other.pub"), failure.getMessage());
  }
}
