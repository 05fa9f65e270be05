package dev.mcpbridge.cluster.trust;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Certificates and encryption of a cluster. */
class TrustTest {
  private static final byte[] NAME = {1};
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);

  /** A secret that is not stretched. */
  private static final String RANDOM =
      "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

  private static final ClusterKeys KEYS = new ClusterKeys("a secret of the tests");

  private static X509Certificate certificate(String pem) throws Exception {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a secret of the tests", RANDOM})
  void nodesWithTheSameSecretTrustEachOther(String secret) throws Exception {
    Authority here = new ClusterKeys(secret).authority();
    Authority there = new ClusterKeys(secret).authority();

    X509Certificate issued =
        certificate(there.issue(List.of("10.0.0.1", "node.example", "::1")).certificate());

    assertDoesNotThrow(() -> issued.verify(certificate(here.certificate()).getPublicKey()));
    assertEquals(
        List.of("10.0.0.1", "node.example", "0:0:0:0:0:0:0:1"),
        issued.getSubjectAlternativeNames().stream().map(name -> name.get(1)).toList());
    assertEquals(-1, issued.getBasicConstraints(), "a node is no authority");
  }

  @ParameterizedTest
  @ValueSource(strings = {"another secret of the tests", RANDOM})
  void nodesWithAnotherSecretAreNotTrusted(String secret) throws Exception {
    Authority other = new ClusterKeys(secret).authority();
    X509Certificate issued = certificate(other.issue(List.of("a")).certificate());

    assertThrows(
        GeneralSecurityException.class,
        () -> issued.verify(certificate(KEYS.authority().certificate()).getPublicKey()));
    assertNotEquals(
        certificate(Authority.random().certificate()).getPublicKey(),
        certificate(Authority.random().certificate()).getPublicKey());
  }

  @Test
  void keysOfDifferentPurposesDiffer() {
    assertEquals(32, KEYS.key("one").length);
    assertNotEquals(Arrays.toString(KEYS.key("one")), Arrays.toString(KEYS.key("two")));
  }

  @Test
  void sealedValueIsOpenedOnlyUnderItsNameAndUnchanged() throws Exception {
    Seal seal = KEYS.seal();
    byte[] sealed = seal.seal(NAME, VALUE);

    assertArrayEquals(VALUE, KEYS.seal().open(NAME, sealed));
    assertThrows(GeneralSecurityException.class, () -> seal.open(new byte[] {2}, sealed));
    IntStream.range(0, sealed.length)
        .forEach(
            i -> {
              byte[] changed = sealed.clone();
              changed[i]++;
              assertThrows(GeneralSecurityException.class, () -> seal.open(NAME, changed));
            });
    assertThrows(GeneralSecurityException.class, () -> seal.open(NAME, new byte[3]));
  }

  @Test
  void sameValueIsNeverSealedTheSameWay() {
    byte[] first = KEYS.seal().seal(NAME, VALUE);
    byte[] second = KEYS.seal().seal(NAME, VALUE);

    assertTrue(!Arrays.equals(first, second));
  }
}
