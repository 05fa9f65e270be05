package dev.mcpbridge.audit;

import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.protocol.Sha256;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import org.bouncycastle.util.encoders.DecoderException;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemReader;

/**
 * The key that signs checkpoints (Ed25519, RFC 8032), in PEM files beside the log: {@code
 * audit.key}, readable by its user only, and {@code audit.pub}. Created with the log.
 */
final class AuditKey {
  private static final String ALGORITHM = "Ed25519";
  private static final String PRIVATE = "PRIVATE KEY";
  private static final String PUBLIC = "PUBLIC KEY";

  private final PrivateKey key;
  private final String publicKey;

  private AuditKey(PrivateKey key, String publicKey) {
    this.key = key;
    this.publicKey = publicKey;
  }

  /**
   * Reads the key of a folder. Blocks.
   *
   * @param mayCreate whether it is created if it is missing
   */
  static AuditKey in(Path folder, boolean mayCreate) throws IOException, GeneralSecurityException {
    Path file = folder.resolve("audit.key");
    Path publicFile = folder.resolve("audit.pub");
    if (!Files.exists(file) && mayCreate) {
      KeyPair pair = KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
      PrivateFile.replace(publicFile, pem(PUBLIC, pair.getPublic().getEncoded()));
      PrivateFile.replace(file, pem(PRIVATE, pair.getPrivate().getEncoded()));
    }
    PrivateKey key =
        KeyFactory.getInstance(ALGORITHM)
            .generatePrivate(new PKCS8EncodedKeySpec(read(file, PRIVATE)));
    return new AuditKey(key, base64(read(publicFile, PUBLIC)));
  }

  /** The public key of a PEM file. Blocks. */
  static String publicKey(Path file) throws IOException {
    return base64(read(file, PUBLIC));
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static String pem(String type, byte[] encoded) {
    return "-----BEGIN " + type + "-----\n" + base64(encoded) + "\n-----END " + type + "-----\n";
  }

  private static byte[] read(Path file, String type) throws IOException {
    String text = Files.readString(file);
    try (PemReader reader = new PemReader(new StringReader(text))) {
      for (PemObject each = reader.readPemObject(); each != null; each = reader.readPemObject()) {
        if (each.getType().equals(type)) {
          return each.getContent();
        }
      }
    } catch (IOException | DecoderException e) {
      // reported below
    }
    throw new IOException(file + " has no " + type + " in PEM");
  }

  /** The public key: X.509, in Base64. */
  String publicKey() {
    return publicKey;
  }

  /** A secret that depends on the key, for one purpose. */
  byte[] derived(String purpose) {
    return Sha256.of("mcp-bridge/audit/" + purpose).end().add(key.getEncoded()).bytes();
  }

  /** Signs a text; Base64. */
  String sign(String text) throws GeneralSecurityException {
    Signature signature = Signature.getInstance(ALGORITHM);
    signature.initSign(key);
    signature.update(text.getBytes(StandardCharsets.UTF_8));
    return base64(signature.sign());
  }

  /** Whether a signature of a text is by the owner of a public key. */
  static boolean isSigned(String publicKey, String text, String signed) {
    try {
      PublicKey key =
          KeyFactory.getInstance(ALGORITHM)
              .generatePublic(new X509EncodedKeySpec(Base64.getDecoder().decode(publicKey)));
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initVerify(key);
      signature.update(text.getBytes(StandardCharsets.UTF_8));
      return signature.verify(Base64.getDecoder().decode(signed));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return false;
    }
  }
}
