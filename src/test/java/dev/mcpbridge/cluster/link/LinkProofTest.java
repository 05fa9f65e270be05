package dev.mcpbridge.cluster.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.agreement.Message.Hail;
import dev.mcpbridge.cluster.agreement.Message.Signed;
import dev.mcpbridge.cluster.link.Greeting.Hello;
import dev.mcpbridge.cluster.link.Impostor.Said;
import dev.mcpbridge.fixture.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServerOptions;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The second of three nodes, and others who want to be the first or the third. */
class LinkProofTest {
  private static final String SECRET = "a secret of the tests";
  private static final byte[] NOTHING = {};

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  private final List<String> members = new ArrayList<>();
  private ServerSocket third;
  private Node node;

  /** Remembers what it was told, and by whom. */
  private final class Node implements Links.Listener {
    final Links links;
    final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();

    Node(int slot, int patienceMillis) {
      Links.Options options =
          new Links.Options(
              new NetServerOptions().setHost("127.0.0.1").setPort(Impostor.port(members, slot)),
              new NetClientOptions(),
              SECRET,
              1 << 20,
              patienceMillis);
      links = new Links(vertx, Impostor.node(members, slot), options, this);
    }

    Node open() throws Exception {
      await(links::open);
      return this;
    }

    @Override
    public void up(int slot, String name) {
      heard.add("up " + slot);
    }

    @Override
    public void down(int slot) {
      heard.add("down " + slot);
    }

    @Override
    public void agreement(Signed message) {
      heard.add("agreement " + message.from());
    }

    @Override
    public void news(int slot, String topic, byte[] body) {
      heard.add("news " + slot);
    }

    @Override
    public void question(int slot, String address, byte[] body, BiConsumer<byte[], byte[]> answer) {
      heard.add("question " + slot);
      answer.accept(body, null);
    }

    void assertHears(String what) throws Exception {
      assertEquals(what, heard.poll(20, TimeUnit.SECONDS));
    }
  }

  @BeforeEach
  void open() throws Exception {
    FreePorts.find(3).forEach(port -> members.add("127.0.0.1:" + port));
    third = new ServerSocket(Impostor.port(members, 2), 5, InetAddress.getByName("127.0.0.1"));
    node = new Node(1, 2_000);
  }

  @AfterEach
  void close() throws Exception {
    vertx.close().await(30, TimeUnit.SECONDS);
    third.close();
  }

  private interface Step<T> {
    Future<T> take();
  }

  private <T> Future<T> onLoop(Step<T> step) {
    return Future.future(promise -> vertx.runOnContext(v -> step.take().onComplete(promise)));
  }

  private <T> T await(Step<T> step) throws Exception {
    return onLoop(step).await(30, TimeUnit.SECONDS);
  }

  private Impostor first(String secret) throws Exception {
    return Impostor.dial(1, Impostor.node(members, 0), secret);
  }

  private static Message news() {
    return new Message(Message.Kind.NEWS, 0, "topic", NOTHING);
  }

  private static Message agreement(int from) {
    Signed hail = new Signed(from, 0, new long[] {1, 1, 1}, new Hail(7));
    return new Message(Message.Kind.AGREEMENT, 0, "", hail.toBytes());
  }

  @Test
  void whoKnowsTheSecretIsHeardAsWhoItIs() throws Exception {
    node.open();
    try (Impostor first = first(SECRET)) {
      assertTrue(first.enter());
      first.say(agreement(0));

      node.assertHears("up 0");
      node.assertHears("agreement 0");
    }
  }

  @Test
  void whoDoesNotKnowTheSecretIsRefused() throws Exception {
    node.open();
    for (String guess : List.of("", "another secret of the tests")) {
      try (Impostor first = first(guess)) {
        assertFalse(first.enter());
      }
    }
    assertTrue(node.heard.isEmpty(), node.heard.toString());
  }

  @ParameterizedTest
  @EnumSource(
      names = {"HELLO", "PROOF", "REFUSAL"},
      mode = EnumSource.Mode.EXCLUDE)
  void nothingIsTakenBeforeTheProof(Frame frame) throws Exception {
    node.open();
    try (Impostor first = first(SECRET)) {
      first.hello();
      first.write(frame, frame == Frame.MESSAGE ? news().toBytes() : new byte[] {1, 1, 1, 1});

      assertNull(first.read(null).frame());
    }
    assertTrue(node.heard.isEmpty(), node.heard.toString());
  }

  @Test
  void aProofIsGoodForOneConnectionOnly() throws Exception {
    node.open();
    byte[] proof;
    try (Impostor first = first(SECRET)) {
      first.hello();
      proof = first.proof(true, Hello.of(first.read().payload()));
      first.write(Frame.PROOF, proof);
      assertTrue(first.isIn());
      try (Impostor again = Impostor.again(first, members, 1)) {
        again.hello();
        again.write(Frame.PROOF, proof);
        assertFalse(again.isIn());
      }
    }
  }

  @Test
  void aNodesOwnProofOpensNothing() throws Exception {
    node.open();
    try (Impostor first = first("")) {
      first.hello();
      first.write(Frame.PROOF, first.read(Frame.PROOF).payload());
      assertFalse(first.isIn());
    }
    try (Impostor last = Impostor.dialled(third, Impostor.node(members, 2), "")) {
      Said hello = last.read();
      last.write(Frame.HELLO, hello.payload());
      last.write(Frame.PROOF, new byte[32]);
      assertFalse(last.isIn());
    }
    assertTrue(node.heard.isEmpty(), node.heard.toString());
  }

  /** Whoever has the port of a node that is down lets another node answer in its place. */
  @Test
  void aNodeProvesNothingToAnotherOneThanItHasDialled() throws Exception {
    node.open();
    try (Impostor relay = Impostor.dialled(third, Impostor.node(members, 2), SECRET)) {
      Hello asked = Hello.of(relay.read().payload());
      Hello other = Hello.of(Impostor.node(members, 0));
      relay.write(Frame.HELLO, other.toBytes());
      relay.write(Frame.PROOF, Greeting.proof(Greeting.key(SECRET), false, asked, other));

      assertNull(relay.read(Frame.PROOF).frame());
    }
  }

  @Test
  void aNodeDoesNotLetInWhomItDialsItself() throws Exception {
    node.open();
    try (Impostor last = Impostor.dial(1, Impostor.node(members, 2), SECRET)) {
      last.hello();

      assertEquals(Frame.REFUSAL, last.read().frame());
    }
  }

  @Test
  void whoSpeaksForAnotherNodeIsCutOff() throws Exception {
    node.open();
    try (Impostor first = first(SECRET)) {
      assertTrue(first.enter());
      first.say(agreement(2));

      assertNull(first.read(null).frame());
      node.assertHears("up 0");
      node.assertHears("down 0");
    }
  }

  @Test
  void onlyTheNodeThatWasAskedCanAnswer() throws Exception {
    node.open();
    try (Impostor first = first(SECRET);
        Impostor last = Impostor.dialled(third, Impostor.node(members, 2), SECRET)) {
      assertTrue(first.enter());
      assertTrue(last.letIn());
      Future<byte[]> asked = onLoop(() -> node.links.ask(2, "x", NOTHING, 20_000));
      long id = Message.of(last.read(Frame.MESSAGE).payload()).id();

      first.say(new Message(Message.Kind.ANSWER, id, "", new byte[] {1}));
      first.say(new Message(Message.Kind.FAILURE, id, "", new byte[] {1}));
      first.say(news());
      node.assertHears("up 0");
      node.assertHears("up 2");
      node.assertHears("news 0");
      last.say(new Message(Message.Kind.ANSWER, id, "", new byte[] {2}));

      assertEquals(2, asked.await(20, TimeUnit.SECONDS)[0]);
    }
  }

  @Test
  void whoDoesNotProveAnythingInTimeIsPutOutHoweverMuchItSays() throws Exception {
    node = new Node(1, 300).open();
    byte[] hello = new byte[1 << 10];
    hello[2] = 4;
    try (Impostor slow = first(SECRET)) {
      assertTrue(slow.isPutOutWhileItWrites(hello), "it may stay");
    }
  }

  @Test
  void manyWhoProveNothingLeaveRoomForANode() throws Exception {
    node = new Node(1, 20_000).open();
    List<Impostor> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 150; i++) {
        silent.add(first(""));
      }
      try (Impostor first = first(SECRET)) {
        assertTrue(first.enter());
      }
      assertNull(silent.get(0).read().frame());
      assertNull(silent.get(49).read().frame());
    } finally {
      for (Impostor each : silent) {
        each.close();
      }
    }
  }
}
