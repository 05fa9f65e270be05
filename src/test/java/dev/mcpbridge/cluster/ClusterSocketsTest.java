package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.link.Identity;
import dev.mcpbridge.cluster.link.Links;
import dev.mcpbridge.config.ClusterConfig;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two nodes of a cluster that permits only small calls. */
@ExtendWith(VertxExtension.class)
class ClusterSocketsTest {
  private static final int MESSAGE_BYTES = 1 << 20;

  private final List<String> members = new ArrayList<>();
  private Vertx vertx;
  private Node sender;
  private Node receiver;

  /** Completes a promise when it is connected, and another with the first message. */
  private final class Node implements Links.Listener {
    final Links links;
    final Promise<Void> connected = Promise.promise();
    final Promise<Signed> received = Promise.promise();

    Node(int slot) {
      int port = Integer.parseInt(members.get(slot).split(":")[1]);
      ClusterConfig config =
          new ClusterConfig(
              "c",
              members,
              slot,
              "127.0.0.1",
              port,
              "n" + slot,
              List.of(),
              "s",
              null,
              5_000,
              false);
      links =
          new Links(
              vertx,
              new Identity("c", members, slot, "n" + slot, "1", 1),
              ClusterSockets.options(config, MESSAGE_BYTES),
              this);
    }

    @Override
    public void up(int slot, String node) {
      connected.complete();
    }

    @Override
    public void down(int slot) {
      received.tryFail("The link was closed");
    }

    @Override
    public void agreement(Signed message) {
      received.tryComplete(message);
    }

    @Override
    public void news(int slot, String topic, byte[] body) {
      throw new AssertionError("unexpected message");
    }

    @Override
    public void question(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer) {
      throw new AssertionError("unexpected request");
    }
  }

  @BeforeEach
  void connect(@ProvidedBy(BridgeVertx.class) Vertx vertx) throws Exception {
    this.vertx = vertx;
    FreePorts.find(2).forEach(port -> members.add("127.0.0.1:" + port));
    sender = new Node(0);
    receiver = new Node(1);
    vertx.runOnContext(v -> Future.all(sender.links.open(), receiver.links.open()));
    Future.all(sender.connected.future(), receiver.connected.future()).await(30, TimeUnit.SECONDS);
  }

  @Test
  void stateLargerThanAnyCallArrives() throws Exception {
    byte[] snapshot = new byte[40 << 20];
    new SplittableRandom(1).nextBytes(snapshot);
    NewState state = new NewState(3, 7, 7, snapshot, List.of());

    vertx.runOnContext(v -> sender.links.send(1, new Signed(0, 77, new long[] {1, 1}, state)));

    NewState received = (NewState) receiver.received.future().await(30, TimeUnit.SECONDS).message();
    assertEquals(7, received.base());
    assertArrayEquals(snapshot, received.snapshot());
  }
}
