package dev.mcpbridge.config;

import java.io.IOException;
import java.io.StringReader;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.interfaces.RSAPrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import org.bouncycastle.util.encoders.DecoderException;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemReader;

/**
 * A private key with which the bridge authenticates to an authorization server.
 *
 * @param id how the authorization server names the key; null if it knows only one
 */
public record ClientKey(PrivateKey key, String id) {
  private static final int MIN_RSA_BITS = 2048;

  /**
   * Reads a key in PEM form (RFC 7468 section 10).
   *
   * @throws IllegalArgumentException with what is wrong; it does not contain the text
   */
  static ClientKey of(String pem, String id) {
    try (PemReader reader = new PemReader(new StringReader(pem))) {
      PemObject object = reader.readPemObject();
      if (object == null || !object.getType().equals("PRIVATE KEY")) {
        throw invalid();
      }
      PKCS8EncodedKeySpec encoded = new PKCS8EncodedKeySpec(object.getContent());
      PrivateKey key = key(encoded);
      if (key instanceof RSAPrivateKey rsa && rsa.getModulus().bitLength() < MIN_RSA_BITS) {
        throw new IllegalArgumentException("is too short: RSA needs " + MIN_RSA_BITS + " bits");
      }
      return new ClientKey(key, id);
    } catch (IOException | GeneralSecurityException | DecoderException e) {
      throw invalid();
    }
  }

  private static PrivateKey key(PKCS8EncodedKeySpec encoded) throws GeneralSecurityException {
    try {
      return KeyFactory.getInstance("EC").generatePrivate(encoded);
    } catch (GeneralSecurityException notElliptic) {
      return KeyFactory.getInstance("RSA").generatePrivate(encoded);
    }
  }

  private static IllegalArgumentException invalid() {
    return new IllegalArgumentException(
        "expected a private key of EC or RSA that begins with -----BEGIN PRIVATE KEY-----");
  }

  @Override
  public String toString() {
    return "ClientKey[id=" + id + "]";
  }
}
