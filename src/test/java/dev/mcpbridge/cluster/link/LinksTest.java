package dev.mcpbridge.cluster.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Entry;
import dev.mcpbridge.cluster.agreement.Message.NewState;
import dev.mcpbridge.cluster.agreement.Message.Prepare;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import dev.mcpbridge.fixture.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes that ask each other, of which one stops, or both. */
class LinksTest {
  private static final int MAX_MESSAGE = 16 << 20;

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  private final List<String> members = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();

  /** Answers each question after some milliseconds with as many bytes as it has had. */
  private final class Node implements Links.Listener {
    final Links links;
    int answered;
    int agreed;
    boolean isMute;

    Node(int slot) {
      int port = Integer.parseInt(members.get(slot).split(":")[1]);
      Links.Options options =
          new Links.Options(
              new NetServerOptions().setHost("127.0.0.1").setPort(port),
              new NetClientOptions(),
              "",
              MAX_MESSAGE,
              5_000);
      links = new Links(vertx, new Identity("c", members, slot, "n" + slot, "1", 1), options, this);
    }

    @Override
    public void up(int slot, String node) {
      // the test looks
    }

    @Override
    public void down(int slot) {
      // the test looks
    }

    @Override
    public void agreement(Signed message) {
      agreed++;
    }

    @Override
    public void news(int slot, String topic, byte[] body) {
      // nobody listens
    }

    @Override
    public void question(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer) {
      answered++;
      if (!isMute) {
        vertx.setTimer(1 + answered % 20, t -> answer.accept(body, null));
      }
    }
  }

  @BeforeEach
  void connect() throws Exception {
    FreePorts.find(2).forEach(port -> members.add("127.0.0.1:" + port));
    nodes.add(new Node(0));
    nodes.add(new Node(1));
    await(onLoop(() -> Future.all(nodes.get(0).links.open(), nodes.get(1).links.open())));
    await(onLoop(this::areConnected));
  }

  @AfterEach
  void close() throws Exception {
    await(vertx.close());
  }

  private interface Step<T> {
    Future<T> take();
  }

  private <T> Future<T> onLoop(Step<T> step) {
    return Future.future(promise -> vertx.runOnContext(v -> step.take().onComplete(promise)));
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.await(30, TimeUnit.SECONDS);
  }

  private Future<Void> areConnected() {
    boolean areUp = nodes.get(0).links.isReachable(1) && nodes.get(1).links.isReachable(0);
    return areUp ? Future.succeededFuture() : vertx.timer(5).compose(t -> areConnected());
  }

  /** One question after the other, until the node is not reached any more. */
  private Future<Integer> askOn(int from, int size, int done) {
    return nodes
        .get(from)
        .links
        .ask(1 - from, "x", new byte[size], 20_000)
        .transform(
            answer -> {
              if (answer.failed()) {
                ErrorCode code = ((BridgeException) answer.cause()).code();
                return code == ErrorCode.NODE_UNREACHABLE
                    ? Future.succeededFuture(done)
                    : Future.failedFuture(answer.cause());
              }
              assertEquals(size, answer.result().length);
              return askOn(from, size, done + 1);
            });
  }

  private Future<List<Integer>> askOn(int from, int size) {
    List<Future<Integer>> askers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      askers.add(askOn(from, size, 0));
    }
    return Future.join(askers).map(all -> all.list());
  }

  private void awaitAnswers(int node, int wanted) throws Exception {
    await(onLoop(() -> hasAnswered(node, wanted)));
  }

  private Future<Void> hasAnswered(int node, int wanted) {
    return nodes.get(node).answered >= wanted
        ? Future.succeededFuture()
        : vertx.timer(1).compose(t -> hasAnswered(node, wanted));
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 100_000, 300_000})
  void whoeverAsksANodeThatStopsIsAnsweredOrHasNotBeenHeard(int size) throws Exception {
    Future<List<Integer>> asked = onLoop(() -> askOn(0, size));
    awaitAnswers(1, 200);

    await(onLoop(() -> nodes.get(1).links.close()));

    int done = await(asked).stream().mapToInt(Integer::intValue).sum();
    assertEquals(nodes.get(1).answered, done);
  }

  @Test
  void twoThatStopAtOnceAnswerEachOther() throws Exception {
    Future<List<Integer>> one = onLoop(() -> askOn(0, 10));
    Future<List<Integer>> other = onLoop(() -> askOn(1, 10));
    awaitAnswers(1, 200);

    await(onLoop(() -> Future.all(nodes.get(0).links.close(), nodes.get(1).links.close())));

    assertEquals(nodes.get(1).answered, await(one).stream().mapToInt(Integer::intValue).sum());
    assertEquals(nodes.get(0).answered, await(other).stream().mapToInt(Integer::intValue).sum());
  }

  @Test
  void whoStopsDoesNotWaitForAnswersThatDoNotCome() throws Exception {
    nodes.get(1).isMute = true;
    Future<byte[]> never = onLoop(() -> nodes.get(0).links.ask(1, "x", new byte[0], 20_000));
    awaitAnswers(1, 1);

    await(onLoop(() -> nodes.get(1).links.close()));

    BridgeException failure = assertThrows(BridgeException.class, () -> await(never));
    assertEquals(ErrorCode.NODE_LOST, failure.code());
    assertEquals(Executed.UNKNOWN, failure.executed());
  }

  private Future<Void> isToldEverything() {
    return nodes.get(0).links.isStillTelling(1)
        ? vertx.timer(1).compose(t -> isToldEverything())
        : Future.succeededFuture();
  }

  private Future<Void> hasAgreed(int wanted) {
    return nodes.get(1).agreed == wanted
        ? Future.succeededFuture()
        : vertx.timer(1).compose(t -> hasAgreed(wanted));
  }

  @Test
  void aLargeStateIsStillToldUntilItIsSent() throws Exception {
    Links links = nodes.get(0).links;
    NewState state = new NewState(0, 7, 7, new byte[8 << 20], List.of());

    boolean isStillTelling =
        await(
            onLoop(
                () -> {
                  links.send(1, new Signed(0, 77, new long[] {1, 1}, state));
                  return Future.succeededFuture(links.isStillTelling(1));
                }));

    assertTrue(isStillTelling);
    await(onLoop(this::isToldEverything));
    await(onLoop(() -> hasAgreed(1)));
  }

  @Test
  void aStateOfWhichTheLinkIsLostIsNotToldAnyMore() throws Exception {
    Links links = nodes.get(0).links;
    NewState state = new NewState(0, 7, 7, new byte[MAX_MESSAGE], List.of());

    onLoop(
        () -> {
          links.send(1, new Signed(0, 77, new long[] {1, 1}, state));
          return Future.succeededFuture();
        });

    await(onLoop(this::isToldEverything));
    assertEquals(0, nodes.get(1).agreed);
  }

  @Test
  void largeCallsAndCommandsDoNotHoldUpTheState() throws Exception {
    Links links = nodes.get(0).links;
    byte[] large = new byte[8 << 20];
    Prepare command = new Prepare(0, 1, 0, new Entry(0, 1, 1, 1, 1, large));

    boolean isStillTelling =
        await(
            onLoop(
                () -> {
                  links.ask(1, "x", large, 20_000);
                  links.tell(1, "x", large);
                  links.send(1, new Signed(0, 77, new long[] {1, 1}, command));
                  return Future.succeededFuture(links.isStillTelling(1));
                }));

    assertFalse(isStillTelling);
    await(onLoop(() -> hasAgreed(1)));
  }

  @Test
  void aMessageThatClaimsToBeLargerThanTheLimitEndsTheLink() throws Exception {
    Future<byte[]> tooLarge =
        onLoop(() -> nodes.get(0).links.ask(1, "x", new byte[MAX_MESSAGE], 20_000));

    BridgeException failure = assertThrows(BridgeException.class, () -> await(tooLarge));

    assertEquals(ErrorCode.NODE_LOST, failure.code());
    assertEquals(0, nodes.get(1).answered);
  }
}
