package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.TokenForge;
import java.security.PrivateKey;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The key with which the bridge authenticates to an authorization server. */
class ClientKeyTest {
  private static String pem(String type, byte[] content) {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return "-----BEGIN " + type + "-----\n" + lines + "\n-----END " + type + "-----\n";
  }

  private static String config(String oauth) {
    String url = "'url':'https://s.example/mcp','era':'modern'";
    return "{'mcpServers':{'s':{%s,'oauth':{%s}}}}".formatted(url, oauth).replace('\'', '"');
  }

  private static ConfigException refusal(String oauth) {
    return assertThrows(
        ConfigException.class,
        () ->
            new ConfigReader(Map.of()).read(config(oauth), ConfigReader.Strictness.ALL_OR_NOTHING));
  }

  @Test
  void keysOfOpensslAreRead() throws Exception {
    PrivateKey elliptic = TokenForge.ec("e").toPrivateKey();
    PrivateKey rsa = TokenForge.rsa("r").toPrivateKey();

    assertEquals(elliptic, ClientKey.of(pem("PRIVATE KEY", elliptic.getEncoded()), null).key());
    assertEquals(rsa, ClientKey.of(pem("PRIVATE KEY", rsa.getEncoded()), "k").key());
  }

  @Test
  void textOfAKeyIsNotShown() throws Exception {
    PrivateKey key = TokenForge.ec("e").toPrivateKey();

    assertEquals("ClientKey[id=k]", new ClientKey(key, "k").toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no key",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAA",
        "-----BEGIN PRIVATE KEY-----\n%%%%\n-----END PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----"
      })
  void otherTextIsRefusedWithoutRepeatingIt(String text) {
    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> ClientKey.of(text, null));

    assertTrue(refusal.getMessage().contains("-----BEGIN PRIVATE KEY-----"), refusal.toString());
    assertFalse(refusal.getMessage().contains("AAAA"), refusal.toString());
  }

  @Test
  void shortKeyIsRefused() throws Exception {
    String text = pem("PRIVATE KEY", TokenForge.rsa("r", 1024).toPrivateKey().getEncoded());

    IllegalArgumentException refusal =
        assertThrows(IllegalArgumentException.class, () -> ClientKey.of(text, null));

    assertEquals("is too short: RSA needs 2048 bits", refusal.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'clientId':'b','issuers':['https://i.example'],'clientKey':'x' | oauth.clientKey: expected",
        "'issuers':['https://i.example'],'clientKey':'x' | oauth.clientKey: needs a clientId",
        "'clientId':'b','issuers':['https://i.example'],'clientKeyId':'x' | oauth.clientKeyId: needs a clientKey",
        "'clientId':'b','issuers':['https://i.example'],'clientKey':'x','clientSecret':'y' "
            + "| oauth.clientKey: is of no use beside clientSecret"
      })
  void configurationSaysWhereItIsWrong(String oauth, String message) {
    String refusal = refusal(oauth).getMessage();

    assertTrue(refusal.contains(message), refusal);
  }

  @Test
  void keyWithoutAnIssuerIsRefused() throws Exception {
    String text = pem("PRIVATE KEY", TokenForge.ec("e").toPrivateKey().getEncoded());

    String refusal =
        refusal("'clientId':'b','clientKey':'" + text.replace("\n", "\\n") + "'").getMessage();

    assertTrue(refusal.contains("oauth.issuers: is required beside"), refusal);
  }
}
