package dev.mcpbridge.cluster.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.cluster.peer.Inbox.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages of one node to another one, over a bus that loses some of them. */
class StreamTest {
  private static final int LIMIT = 1 << 20;

  private final ArrayDeque<Frame.Piece> wire = new ArrayDeque<>();
  private final Outbox outbox = new Outbox(8L << 20, wire::add);
  private final Inbox inbox = new Inbox(LIMIT);
  private final List<byte[]> received = new ArrayList<>();

  private Outcome deliver(Frame.Piece piece) {
    Outcome outcome =
        inbox.receive(piece.stream(), piece.number(), piece.message(), piece.left(), piece.bytes());
    if (outcome == Outcome.MESSAGE) {
      received.add(inbox.message());
    }
    return outcome;
  }

  private void deliverAll() {
    while (!wire.isEmpty()) {
      deliver(wire.poll());
      outbox.acknowledged(inbox.stream(), inbox.number());
    }
  }

  private static byte[] message(int length, int content) {
    byte[] message = new byte[length];
    Arrays.fill(message, (byte) content);
    return message;
  }

  @Test
  void smallMessagePassesALargeOne() {
    outbox.send(message(10 * Outbox.PIECE_BYTES, 1));
    outbox.send(message(3, 2));

    deliverAll();

    assertArrayEquals(message(3, 2), received.get(0));
    assertArrayEquals(message(10 * Outbox.PIECE_BYTES, 1), received.get(1));
  }

  @Test
  void onlyAWindowIsUnderWayUntilTheReceiverAnswers() {
    outbox.send(message(LIMIT, 1));

    assertEquals(Outbox.PIECES_WINDOW_BYTES / Outbox.PIECE_BYTES, wire.size());
    deliverAll();
    assertEquals(1, received.size());
    assertTrue(outbox.isEmpty());
  }

  @Test
  void fullQueueRefusesAMessage() {
    Outbox small = new Outbox(300_000, piece -> {});
    for (int i = 0; i < 20; i++) {
      small.send(message(Outbox.PIECE_BYTES, i));
    }
    assertTrue(small.send(message(30_000, 1)));

    assertFalse(small.send(message(30_000, 1)));
  }

  /** Loses, and repeats what is missing, until everything has arrived. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void everyMessageArrivesOnceInSpiteOfLosses(long seed) {
    Random random = new Random(seed);
    List<Integer> lengths = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      lengths.add(random.nextInt(4) == 0 ? 70_000 + random.nextInt(300_000) : i + 1);
      outbox.send(message(lengths.get(i), i));
    }

    for (int round = 0; round < 1_000 && received.size() < 60; round++) {
      while (!wire.isEmpty()) {
        Frame.Piece piece = wire.poll();
        if (random.nextInt(5) > 0) {
          deliver(piece);
        }
      }
      outbox.acknowledged(inbox.stream(), inbox.number());
      if (!inbox.hasAll(outbox.stream(), outbox.lastNumber())) {
        outbox.repeat(outbox.stream());
      }
    }

    assertEquals(
        lengths.stream().sorted().toList(),
        received.stream().map(message -> message.length).sorted().toList());
    List<Byte> small =
        received.stream().filter(m -> m.length < 100).map(message -> message[0]).toList();
    assertEquals(small.stream().sorted().toList(), small);
  }

  @Test
  void newStreamForgetsWhatWasUnderWay() {
    outbox.send(message(LIMIT, 1));
    deliver(wire.poll());
    outbox.reset();
    wire.clear();
    outbox.send(message(5, 2));

    assertTrue(inbox.isNew(outbox.stream()));
    deliverAll();

    assertEquals(1, received.size());
    assertEquals(5, received.get(0).length);
  }

  @Test
  void pieceOfAnEndedStreamIsIgnored() {
    Frame.Piece old = new Frame.Piece(1, 1, 0, 1, new byte[1]);
    deliver(new Frame.Piece(2, 1, 0, 1, new byte[1]));

    assertEquals(Outcome.OLD, deliver(old));
    assertEquals(Outcome.OLD, deliver(new Frame.Piece(2, 1, 0, 1, new byte[1])));
    assertEquals(Outcome.GAP, deliver(new Frame.Piece(2, 3, 0, 1, new byte[1])));
  }

  @Test
  void invalidPiecesAreRefused() {
    assertEquals(
        Outcome.INVALID, deliver(new Frame.Piece(1, 1, 7, LIMIT + 1, new byte[1])), "too large");
    assertEquals(
        Outcome.INVALID, deliver(new Frame.Piece(1, 2, 7, 1, new byte[2])), "more than announced");
    deliver(new Frame.Piece(1, 3, 7, 10, new byte[4]));
    assertEquals(
        Outcome.INVALID, deliver(new Frame.Piece(1, 4, 7, 9, new byte[4])), "another length");
  }
}
