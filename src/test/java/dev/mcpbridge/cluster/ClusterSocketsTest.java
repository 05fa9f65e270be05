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

/** Two nodes that are connected as nodes of a cluster are whose calls are small. */
class ClusterSocketsTest {
  private static final int MESSAGE_BYTES = 1 << 20;

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  private final List<String> members = new ArrayList<>();
  private Node teller;
  private Node joiner;

  /** Waits until it is connected, and for what it is told then. */
  private final class Node implements Links.Listener {
    final Links links;
    final Promise<Void> connected = Promise.promise();
    final Promise<Signed> told = Promise.promise();

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
      told.tryFail("the link has ended");
    }

    @Override
    public void agreement(Signed message) {
      told.tryComplete(message);
    }

    @Override
    public void news(int slot, String topic, byte[] body) {
      throw new AssertionError("nobody has news");
    }

    @Override
    public void question(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer) {
      throw new AssertionError("nobody asks");
    }
  }

  @BeforeEach
  void connect() throws Exception {
    FreePorts.some(2).forEach(port -> members.add("127.0.0.1:" + port));
    teller = new Node(0);
    joiner = new Node(1);
    vertx.runOnContext(v -> Future.all(teller.links.open(), joiner.links.open()));
    await(Future.all(teller.connected.future(), joiner.connected.future()));
  }

  @AfterEach
  void close() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.await(30, TimeUnit.SECONDS);
  }

  @Test
  void aStateThatIsLargerThanAnyCallArrives() throws Exception {
    byte[] snapshot = new byte[40 << 20];
    new SplittableRandom(1).nextBytes(snapshot);
    NewState state = new NewState(3, 7, 7, snapshot, List.of());

    vertx.runOnContext(v -> teller.links.send(1, new Signed(0, 77, new long[] {1, 1}, state)));

    NewState arrived = (NewState) await(joiner.told.future()).message();
    assertEquals(7, arrived.base());
    assertArrayEquals(snapshot, arrived.snapshot());
  }
}
