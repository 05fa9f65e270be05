package dev.mcpbridge.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.link.Identity;
import dev.mcpbridge.cluster.link.Links;
import dev.mcpbridge.config.ClusterConfig;
import dev.mcpbridge.fixture.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two nodes of a cluster that permits only small calls. */
class ClusterSocketsTest {
  private static final int MESSAGE_BYTES = 1 << 20;

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  private final List<String> members = new ArrayList<>();
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
  void connect() throws Exception {
    FreePorts.find(2).forEach(port -> members.add("127.0.0.1:" + port));
    sender = new Node(0);
    receiver = new Node(1);
    vertx.runOnContext(v -> Future.all(sender.links.open(), receiver.links.open()));
    await(Future.all(sender.connected.future(), receiver.connected.future()));
  }

  @AfterEach
  void close() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.await(30, TimeUnit.SECONDS);
  }

  @Test
  void stateLargerThanAnyCallArrives() throws Exception {
    byte[] snapshot = new byte[40 << 20];
    new SplittableRandom(1).nextBytes(snapshot);
    NewState state = new NewState(3, 7, 7, snapshot, List.of());

    vertx.runOnContext(v -> sender.links.send(1, new Signed(0, 77, new long[] {1, 1}, state)));

    NewState received = (NewState) await(receiver.received.future()).message();
    assertEquals(7, received.base());
    assertArrayEquals(snapshot, received.snapshot());
  }
}
