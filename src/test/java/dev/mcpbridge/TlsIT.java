package dev.mcpbridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.fixture.TestBridge;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HTTPS from PEM files, with a certificate made for the test. */
class TlsIT {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir Path folder;
  private KeyStore store;

  @BeforeEach
  void certificate() throws Exception {
    Path file = folder.resolve("store.p12");
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    Process made =
        new ProcessBuilder(
                keytool,
                "-genkeypair",
                "-alias",
                "a",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                "changeit",
                "-validity",
                "2")
            .redirectErrorStream(true)
            .start();
    assertEquals(0, made.waitFor());
    store = KeyStore.getInstance(file.toFile(), PASSWORD);
    pem("cert.pem", "CERTIFICATE", store.getCertificate("a").getEncoded());
    pem("key.pem", "PRIVATE KEY", store.getKey("a", PASSWORD).getEncoded());
  }

  @Test
  void servesHttpsAndNothingElseOnThatPort() throws Exception {
    try (TestBridge bridge = TestBridge.of(config("cert.pem", "key.pem"))) {
      HttpClient client = HttpClient.newBuilder().sslContext(trusting()).build();
      URI live = URI.create("https://localhost:" + bridge.port() + "/health/live");

      HttpResponse<String> answer =
          client.send(HttpRequest.newBuilder(live).build(), HttpResponse.BodyHandlers.ofString());

      assertEquals(200, answer.statusCode());
      assertThrows(java.io.IOException.class, () -> bridge.get("/health/live"));
    }
  }

  @Test
  void aServerBehindTlsIsReachedWithItsAuthorityAndNotWithout() throws Exception {
    String behind =
        config("cert.pem", "key.pem")
            .replaceFirst("'http':.", "'http':{'host':'0.0.0.0','insecure':true,")
            .replaceFirst("}$", ",'mcpServers':{'s':" + TestBridge.entry("") + "}}");
    try (TestBridge server = TestBridge.of(behind)) {
      String url = "'url':'https://localhost:" + server.port() + "/servers/s/mcp'";
      String authority = ",'tls':{'ca':'" + folder.resolve("cert.pem") + "'}";
      String wrongName = url.replace("localhost", "127.0.0.2") + authority;
      try (TestBridge front =
          TestBridge.of(
              "{'mcpServers':{'s':{"
                  + url
                  + authority
                  + "},'untrusted':{"
                  + url
                  + "},'misnamed':{"
                  + wrongName
                  + "}}}")) {
        front.until(() -> front.state("s").equals("ready"));
        assertEquals(
            "{\"m\":1}",
            front.call("echo", "{\"m\":1}").body().path("structuredContent").toString());
        front.until(() -> front.state("untrusted").equals("failed"));
        assertEquals(0, front.get("/servers/untrusted").body().path("tool_count").asInt());
        front.until(() -> front.state("misnamed").equals("failed"));
        String why = front.get("/servers/misnamed").body().path("last_error").asText();
        assertTrue(why.contains("SSL"), why);
      }
    }
  }

  @Test
  void filesThatAreSwappedAreRefused() {
    assertThrows(ConfigException.class, () -> TestBridge.of(config("key.pem", "cert.pem")));
  }

  private String config(String cert, String key) {
    return "{'http':{'tls':{'cert':'"
        + folder.resolve(cert)
        + "','key':'"
        + folder.resolve(key)
        + "'}}}";
  }

  private SSLContext trusting() throws Exception {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    trusted.setCertificateEntry("a", store.getCertificate("a"));
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }

  private void pem(String name, String label, byte[] der) throws Exception {
    Files.writeString(
        folder.resolve(name),
        "-----BEGIN "
            + label
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
            + "\n-----END "
            + label
            + "-----\n");
  }
}
