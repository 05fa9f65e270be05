package dev.mcpbridge.it.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.fixture.Authority;
import dev.mcpbridge.fixture.GrpcServer;
import dev.mcpbridge.fixture.TestBridge;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** gRPC servers over TLS, with and without a certificate of the bridge. */
@Tag("grpc")
class GrpcTlsIT {
  @TempDir static Path folder;
  private static Authority authority;
  private static Path ofServer;
  private static Path ofBridge;

  @BeforeAll
  static void issue() throws Exception {
    authority = Authority.create(folder.resolve("authority"));
    ofServer = authority.certificateFiles("server", "ip:127.0.0.1");
    ofBridge = authority.certificateFiles("bridge", "dns:bridge");
  }

  private static GrpcServer server(ClientAuth clientAuth) throws Exception {
    SslContextBuilder tls =
        GrpcSslContexts.forServer(
                ofServer.resolve("cert.pem").toFile(), ofServer.resolve("key.pem").toFile())
            .trustManager(authority.certificateFile().toFile())
            .clientAuth(clientAuth);
    var context = tls.build();
    return GrpcServer.with(
        builder -> builder.sslContext(context).addService(GrpcServer.reflection()));
  }

  private static TestBridge bridge(GrpcServer server, String tls) {
    return TestBridge.of(
        "{'mcpServers':{'s':{'type':'grpc','url':'%s','tls':{%s}}}}"
            .formatted(server.url().replace("grpc:", "grpcs:"), tls));
  }

  private static String trusted() {
    return "'ca':'" + authority.certificateFile() + "'";
  }

  private static String identified() {
    return "%s,'cert':'%s','key':'%s'"
        .formatted(trusted(), ofBridge.resolve("cert.pem"), ofBridge.resolve("key.pem"));
  }

  private static void assertFails(TestBridge bridge, String reason) throws Exception {
    bridge.until(() -> bridge.get("/servers/s").body().path("last_error").isTextual());
    String error = bridge.get("/servers/s").body().path("last_error").asText();
    assertTrue(error.contains(reason), error);
  }

  @Test
  void serverWithATrustedCertificateIsCalled() throws Exception {
    try (GrpcServer server = server(ClientAuth.NONE);
        TestBridge bridge = bridge(server, trusted()).awaitReady("s")) {
      assertEquals(200, bridge.call("TestService_EmptyCall", "{}").status());
    }
  }

  @Test
  void serverWithAnUnknownCertificateIsNotAsked() throws Exception {
    try (GrpcServer server = server(ClientAuth.NONE);
        TestBridge bridge = bridge(server, "")) {
      assertFails(bridge, "is not trusted");
      assertEquals(0, server.requests().size());
    }
  }

  @Test
  void serverThatAsksForACertificateGetsTheOneOfTheBridge() throws Exception {
    try (GrpcServer server = server(ClientAuth.REQUIRE);
        TestBridge bridge = bridge(server, identified()).awaitReady("s")) {
      assertEquals(200, bridge.call("TestService_EmptyCall", "{}").status());
    }
  }

  @Test
  void serverThatAsksForACertificateRefusesABridgeWithout() throws Exception {
    try (GrpcServer server = server(ClientAuth.REQUIRE);
        TestBridge bridge = bridge(server, trusted())) {
      assertFails(bridge, "");
      assertEquals(0, server.requests().size());
    }
  }
}
