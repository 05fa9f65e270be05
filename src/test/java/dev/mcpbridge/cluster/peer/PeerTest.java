package dev.mcpbridge.cluster.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.peer.Message.Kind;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.Future;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two nodes that talk, lose each other, and find each other again. */
class PeerTest {
  private static final long PATIENCE = 1_000;

  private final End here = new End("here");
  private final End there = new End("there");
  private long now = 1_000_000;

  /** One node's view of the other one. */
  private static final class End implements Wire {
    final Peer peer = new Peer("other:1", 1 << 20, this);
    final String name;
    final ArrayDeque<byte[]> sent = new ArrayDeque<>();
    final List<Message> messages = new ArrayList<>();
    int downs;

    End(String name) {
      this.name = name;
    }

    @Override
    public void send(Peer to, byte[] frame) {
      sent.add(frame);
    }

    @Override
    public int member() {
      return 1;
    }

    @Override
    public void up(Peer up) {
      // the state is asked of the peer
    }

    @Override
    public void joined(Peer joined) {
      // the state is asked of the peer
    }

    @Override
    public void down(Peer down, String reason) {
      downs++;
    }

    @Override
    public void message(Peer from, Message message) {
      messages.add(message);
    }
  }

  @Test
  void connectionThatTimedOutIsNotARefusal() {
    assertTrue(PeerBus.isRefusal(new ConnectException("refused")));
    assertFalse(PeerBus.isRefusal(new ConnectTimeoutException("after 2000 ms")));
    assertFalse(PeerBus.isRefusal(new ClosedChannelException()));
  }

  private static Hello hello(End of, long incarnation) {
    return new Hello("c", new byte[1], of.name, incarnation, "1", of.peer.ownToken());
  }

  private void connect() {
    here.peer.introduced(hello(there, 1), now);
    there.peer.introduced(hello(here, 1), now);
    exchange();
  }

  private void exchange() {
    while (!here.sent.isEmpty() || !there.sent.isEmpty()) {
      deliver(here, there);
      deliver(there, here);
    }
  }

  private void deliver(End from, End to) {
    while (!from.sent.isEmpty()) {
      to.peer.receive(from.sent.poll(), now);
    }
  }

  private Future<byte[]> ask(int length) {
    return here.peer.ask("q", new byte[length], now + 100_000);
  }

  private void answer(int question) {
    there.peer.answer(new Message(Kind.ANSWER, there.messages.get(question).id(), "", new byte[3]));
  }

  @Test
  void questionIsAnswered() {
    connect();

    Future<byte[]> small = ask(1);
    Future<byte[]> large = ask(500_000);
    exchange();
    answer(0);
    answer(1);
    exchange();

    assertEquals(3, small.result().length);
    assertEquals(3, large.result().length);
    assertEquals(500_000, there.messages.get(1).body().length);
  }

  @Test
  void nothingIsSentToANodeThatIsNotConnected() {
    Future<byte[]> question = ask(1);

    assertEquals(ErrorCode.NODE_UNREACHABLE, ((BridgeException) question.cause()).code());
  }

  @Test
  void frameWithAnotherTokenIsIgnored() {
    connect();
    byte[] forged = new Frame.Piece(1, 1, 0, 1, new byte[1]).toBytes(new byte[16]);

    assertFalse(there.peer.receive(forged, now));
  }

  @Test
  void questionsFailWhenTheOtherNodeIsSilent() {
    connect();
    Future<byte[]> question = ask(1);

    now += PATIENCE + 1;
    here.peer.check(now, PATIENCE);

    assertEquals(ErrorCode.NODE_LOST, ((BridgeException) question.cause()).code());
    assertEquals(1, here.downs);
    assertFalse(here.peer.isUp());
  }

  /** Only the other node has noticed the silence, as this one was frozen. */
  @Test
  void questionAfterAFreezeIsAnswered() {
    connect();
    ask(1);
    exchange();
    now += PATIENCE + 1;
    there.peer.check(now, PATIENCE);
    there.peer.beat();
    deliver(there, here);

    Future<byte[]> question = ask(1);
    exchange();
    answer(1);
    exchange();

    assertTrue(question.succeeded(), String.valueOf(question.cause()));
  }

  /** The first that is heard of a new stream may be the answer to a question that it has got. */
  @Test
  void answerThatBeginsANewStreamIsTaken() {
    connect();
    Future<byte[]> lost = ask(1);
    exchange();
    now += PATIENCE + 1;
    there.peer.check(now, PATIENCE);
    Future<byte[]> question = ask(1);
    deliver(here, there);
    there.sent.clear();

    answer(1);
    exchange();

    assertTrue(question.succeeded(), String.valueOf(question.cause()));
    there.peer.beat();
    exchange();
    assertEquals(ErrorCode.NODE_LOST, ((BridgeException) lost.cause()).code());
  }

  /** A connection that took too long looks like a process that does not listen. */
  @Test
  void nodeThatSeemedNotToListenLosesNoAnswerInSilence() {
    connect();
    Future<byte[]> question = ask(1);
    exchange();
    there.peer.refused();
    answer(0);

    reconnect();

    assertEquals(ErrorCode.NODE_LOST, ((BridgeException) question.cause()).code());
    assertAnswered(1);
  }

  private void assertAnswered(int message) {
    Future<byte[]> question = ask(1);
    exchange();
    answer(message);
    exchange();
    assertEquals(3, question.result().length);
  }

  private void reconnect() {
    here.peer.introduced(hello(there, 1), now);
    there.peer.introduced(hello(here, 1), now);
    now += 1_000_000_000;
    for (int i = 0; i < 3; i++) {
      here.peer.beat();
      there.peer.beat();
      exchange();
    }
  }

  @Test
  void restartedProcessAnswersNoEarlierQuestion() {
    connect();
    Future<byte[]> question = ask(1);
    exchange();

    here.peer.introduced(hello(there, 2), now);

    assertEquals(ErrorCode.NODE_LOST, ((BridgeException) question.cause()).code());
  }

  @Test
  void lostFramesAreSentAgain() {
    connect();
    Future<byte[]> question = ask(200_000);
    here.sent.clear();

    for (int i = 0; i < 10 && there.messages.isEmpty(); i++) {
      here.peer.beat();
      exchange();
    }
    answer(0);
    exchange();

    assertTrue(question.succeeded(), String.valueOf(question.cause()));
  }

  @Test
  void nodeThatStopsIsGoneAtOnce() {
    connect();

    there.peer.bye();
    exchange();

    assertFalse(here.peer.isUp());
    assertFalse(here.peer.isIntroduced());
  }
}
