package dev.mcpbridge.it.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.fixture.MetricsText;
import dev.mcpbridge.fixture.SlowReader;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HTTPS with PEM files; the certificate is generated for each test. */
@Tag("access")
class TlsIT {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir Path folder;
  private KeyStore store;

  @BeforeEach
  void certificate() throws Exception {
    keytool(
        "-genkeypair",
        "-alias",
        "a",
        "-keyalg",
        "EC",
        "-dname",
        "CN=localhost",
        "-ext",
        "san=dns:localhost,ip:127.0.0.1",
        "-validity",
        "2");
    store = store();
    pem("cert.pem", "CERTIFICATE", store.getCertificate("a").getEncoded());
    pem("key.pem", "PRIVATE KEY", store.getKey("a", PASSWORD).getEncoded());
  }

  private KeyStore store() throws Exception {
    return KeyStore.getInstance(folder.resolve("store.p12").toFile(), PASSWORD);
  }

  private void keytool(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
    command.addAll(List.of(arguments));
    command.addAll(
        List.of(
            "-storetype",
            "PKCS12",
            "-keystore",
            folder.resolve("store.p12").toString(),
            "-storepass",
            new String(PASSWORD)));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertEquals(0, process.waitFor(), command.toString());
  }

  /** Replaces the certificate with one for the same key that expired two days ago. */
  private void expire() throws Exception {
    String request = folder.resolve("request").toString();
    String signed = folder.resolve("signed").toString();
    keytool("-genkeypair", "-alias", "ca", "-keyalg", "EC", "-dname", "CN=ca", "-ext", "bc:c");
    keytool("-certreq", "-alias", "a", "-file", request);
    keytool(
        "-gencert",
        "-alias",
        "ca",
        "-infile",
        request,
        "-outfile",
        signed,
        "-ext",
        "san=dns:localhost,ip:127.0.0.1",
        "-startdate",
        "-3d",
        "-validity",
        "1");
    pem("cert.pem", "CERTIFICATE", Files.readAllBytes(Path.of(signed)));
    pem("ca.pem", "CERTIFICATE", store().getCertificate("ca").getEncoded());
  }

  @Test
  void onlyHttpsIsServedOnATlsPort() throws Exception {
    try (TestBridge bridge = TestBridge.of(config("cert.pem", "key.pem"))) {
      HttpClient client = HttpClient.newBuilder().sslContext(trustingContext()).build();
      URI live = URI.create("https://localhost:" + bridge.port() + "/health/live");

      HttpResponse<String> answer =
          client.send(HttpRequest.newBuilder(live).build(), HttpResponse.BodyHandlers.ofString());

      assertEquals(200, answer.statusCode());
      assertThrows(java.io.IOException.class, () -> bridge.get("/health/live"));
    }
  }

  @Test
  void unreadResponseBytesAreCountedWithTlsToo() throws Exception {
    int size = 4 << 20;
    try (TestBridge bridge = TestBridge.of(withServer(config("cert.pem", "key.pem")))) {
      HttpClient client = HttpClient.newBuilder().sslContext(trustingContext()).build();
      URI home = URI.create("https://localhost:" + bridge.port());
      bridge.until(() -> get(client, home.resolve("/servers/s")).contains("\"state\":\"ready\""));
      Socket socket = trustingContext().getSocketFactory().createSocket();
      try (SlowReader reader = SlowReader.big(bridge.port(), socket, size, 0)) {
        bridge.until(() -> heldBytes(client, home) > size);

        assertTrue(reader.readAll().length() > size);
      }
      bridge.until(() -> heldBytes(client, home) == 0);
    }
  }

  private static double heldBytes(HttpClient client, URI home) throws Exception {
    return MetricsText.heldBytes(get(client, home.resolve("/metrics")));
  }

  private static String get(HttpClient client, URI uri) throws Exception {
    return client
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Test
  void aTlsServerIsTrustedOnlyWithItsAuthority() throws Exception {
    String behind =
        withServer(config("cert.pem", "key.pem"))
            .replaceFirst("'http':.", "'http':{'host':'0.0.0.0','insecure':true,");
    try (TestBridge server = TestBridge.of(behind)) {
      String url = "'url':'https://localhost:" + server.port() + "/servers/s/mcp'";
      String authority = ",'tls':{'ca':'" + folder.resolve("cert.pem") + "'}";
      String wrongName = url.replace("localhost", "127.0.0.2") + authority;
      try (TestBridge front =
          TestBridge.of(
                  "{'mcpServers':{'s':{%s%s},'untrusted':{%s},'misnamed':{%s}}}"
                      .formatted(url, authority, url, wrongName))
              .awaitReady("s")) {
        assertEquals(
            "{\"m\":1}",
            front.call("echo", "{\"m\":1}").body().path("structuredContent").toString());
        front.until(() -> front.state("untrusted").equals("failed"));
        assertEquals(0, front.get("/servers/untrusted").body().path("tool_count").asInt());
        front.until(() -> front.state("misnamed").equals("failed"));
        String lastError = front.get("/servers/misnamed").at("/last_error");
        assertTrue(lastError.contains("its certificate is not trusted: "), lastError);
      }
    }
  }

  @Test
  void aServerWithAnExpiredCertificateIsNotCalled() throws Exception {
    expire();
    try (TestBridge server = TestBridge.of(withServer(config("cert.pem", "key.pem")));
        TestBridge front =
            TestBridge.of(
                "{'mcpServers':{'s':{'url':'https://localhost:"
                    + server.port()
                    + "/servers/s/mcp','tls':{'ca':'"
                    + folder.resolve("ca.pem")
                    + "'}}}}")) {
      front.until(() -> front.state("s").equals("failed"));

      Answer refused = front.call("echo", "{}");
      assertTrue(refused.status() == 502 || refused.status() == 503, refused.text());
      assertEquals("no", refused.at("/executed"), refused.text());
      String lastError = front.get("/servers/s").at("/last_error");
      assertTrue(lastError.contains("its certificate has expired: "), lastError);
    }
  }

  @Test
  void swappedCertificateAndKeyFilesAreRejected() {
    assertThrows(ConfigException.class, () -> TestBridge.of(config("key.pem", "cert.pem")));
  }

  private String config(String cert, String key) {
    return "{'http':{'tls':{'cert':'%s','key':'%s'}}}"
        .formatted(folder.resolve(cert), folder.resolve(key));
  }

  private static String withServer(String config) {
    String open = config.substring(0, config.length() - 1);
    return open + ",'mcpServers':{'s':" + TestBridge.entry("") + "}}";
  }

  private SSLContext trustingContext() throws Exception {
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
        "-----BEGIN %s-----\n%s\n-----END %s-----\n"
            .formatted(
                label, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der), label));
  }
}
