package dev.mcpbridge.cluster.trust;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.NamedParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A certificate authority for the nodes of one cluster. Its key is random, or an Ed25519 key whose
 * 32 bytes are derived from the secret of the cluster (RFC 8032, section 5.1.5), so that all nodes
 * with the same secret have the same authority. Immutable.
 */
public final class Authority {
  private static final Duration LIFETIME = Duration.ofDays(3650);

  /** Clocks of nodes may be wrong by minutes. */
  private static final Duration BACKDATED = Duration.ofDays(2);

  private static final X500Principal NAME = new X500Principal("CN=mcp-bridge cluster authority");

  private final KeyPair keys;
  private final X509Certificate certificate;

  /** PEM texts of a certificate that was issued and of its private key (PKCS #8). */
  public record Issued(String certificate, String key) {}

  private Authority(KeyPair keys) {
    this.keys = keys;
    this.certificate = selfSigned(keys);
  }

  static Authority ofSeed(byte[] seed) {
    return new Authority(generated(new Seeded(seed)));
  }

  /** An authority with a random key. */
  public static Authority random() {
    return new Authority(generated(new SecureRandom()));
  }

  private static KeyPair generated(SecureRandom random) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
      generator.initialize(NamedParameterSpec.ED25519, random);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Yields the bytes of the private key. */
  private static final class Seeded extends SecureRandom {
    private static final long serialVersionUID = 1L;
    private final byte[] seed;

    Seeded(byte[] seed) {
      this.seed = seed.clone();
    }

    @Override
    public void nextBytes(byte[] bytes) {
      if (bytes.length != seed.length) {
        throw new IllegalStateException("expected a request for " + seed.length + " bytes");
      }
      System.arraycopy(seed, 0, bytes, 0, seed.length);
    }
  }

  /** The certificate of the authority as PEM. */
  public String certificate() {
    return pem("CERTIFICATE", encoded(certificate));
  }

  /**
   * Issues a certificate for client and server authentication with a new key.
   *
   * @param hosts DNS names and IP addresses of the node
   */
  public Issued issue(Collection<String> hosts) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair node = generator.generateKeyPair();
      X509v3CertificateBuilder builder = builder(new X500Principal("CN=mcp-bridge node"), node);
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
      builder.addExtension(
          Extension.extendedKeyUsage,
          false,
          new ExtendedKeyUsage(
              new KeyPurposeId[] {KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth}));
      builder.addExtension(
          Extension.subjectAlternativeName,
          false,
          new GeneralNames(hosts.stream().map(Authority::name).toArray(GeneralName[]::new)));
      return new Issued(
          pem("CERTIFICATE", encoded(signed(builder, keys.getPrivate()))),
          pem("PRIVATE KEY", node.getPrivate().getEncoded()));
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static GeneralName name(String host) {
    boolean isAddress = host.contains(":") || host.matches("\\d{1,3}(\\.\\d{1,3}){3}");
    return new GeneralName(isAddress ? GeneralName.iPAddress : GeneralName.dNSName, host);
  }

  private static X509Certificate selfSigned(KeyPair keys) {
    try {
      X509v3CertificateBuilder builder = builder(NAME, keys);
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
      builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign));
      return signed(builder, keys.getPrivate());
    } catch (CertIOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static X509v3CertificateBuilder builder(X500Principal subject, KeyPair subjectKeys) {
    Instant now = Instant.now();
    return new JcaX509v3CertificateBuilder(
        NAME,
        new BigInteger(120, new SecureRandom()),
        Date.from(now.minus(BACKDATED)),
        Date.from(now.plus(LIFETIME)),
        subject,
        subjectKeys.getPublic());
  }

  private static X509Certificate signed(X509v3CertificateBuilder builder, PrivateKey key) {
    try {
      return new JcaX509CertificateConverter()
          .getCertificate(builder.build(new JcaContentSignerBuilder("Ed25519").build(key)));
    } catch (OperatorCreationException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] encoded(X509Certificate certificate) {
    try {
      return certificate.getEncoded();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String pem(String kind, byte[] bytes) {
    String text =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(bytes);
    return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n";
  }
}
