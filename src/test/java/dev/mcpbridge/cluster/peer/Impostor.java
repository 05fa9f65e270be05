package dev.mcpbridge.cluster.peer;

import dev.mcpbridge.cluster.trust.Authority;
import dev.mcpbridge.cluster.trust.ClusterKeys;
import dev.mcpbridge.fixture.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/** A program that speaks the protocol of nodes, and asks them with a guessed secret. */
public final class Impostor {
  private static final int SECONDS = 5;

  private Impostor() {}

  /** Whether any of the nodes answers a question, with a result or a failure. */
  public static boolean isAnswered(
      String cluster, List<String> members, String secret, String question, byte[] body)
      throws Exception {
    ClusterKeys keys = new ClusterKeys(secret);
    Path folder = Files.createTempDirectory("impostor");
    Authority authority = keys.authority();
    Authority.Issued issued = authority.issue(List.of("127.0.0.1"));
    Path certificate = folder.resolve("node.pem");
    Files.writeString(certificate, issued.key() + issued.certificate());
    Path trusted = Files.writeString(folder.resolve("authority.pem"), authority.certificate());
    String address = "127.0.0.1:" + FreePorts.find(1).get(0);
    PeerBus.Introduction self =
        new PeerBus.Introduction(cluster, keys.fingerprint(), address, "impostor", 1, "1");
    PeerBus.Options options =
        new PeerBus.Options(
            self,
            "127.0.0.1",
            new PeerBus.Certificates(certificate, trusted, ""),
            1 << 20,
            1_000,
            () -> 99);
    Vertx vertx = Vertx.vertx();
    try {
      CompletableFuture<Boolean> answered = new CompletableFuture<>();
      PeerBus bus = new PeerBus(vertx, options, new Silent());
      vertx.runOnContext(
          v ->
              bus.open()
                  .onSuccess(
                      opened -> {
                        bus.setPeers(members);
                        vertx.setPeriodic(
                            50,
                            t ->
                                bus.connected()
                                    .forEach(
                                        to ->
                                            ask(bus, to, question, body)
                                                .onComplete(done -> answered.complete(true))));
                      }));
      return answered.get(SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      return false;
    } finally {
      vertx.close().await(10, TimeUnit.SECONDS);
    }
  }

  /** Succeeds if there was an answer. */
  private static Future<Void> ask(PeerBus bus, String to, String question, byte[] body) {
    return bus.ask(to, question, body, 2_000)
        .<Void>mapEmpty()
        .recover(
            failure ->
                failure instanceof RemoteFailure
                    ? Future.succeededFuture()
                    : Future.future(never -> {}));
  }

  private static final class Silent implements PeerBus.Listener {
    @Override
    public void up(String address, int member, String node) {
      // the connected nodes are polled
    }

    @Override
    public void down(String address) {
      // the connected nodes are polled
    }

    @Override
    public void news(String address, int member, String topic, byte[] body) {
      // nothing is expected
    }

    @Override
    public void question(
        String address, int member, String name, byte[] body, BiConsumer<byte[], byte[]> answer) {
      // nothing is answered
    }
  }
}
