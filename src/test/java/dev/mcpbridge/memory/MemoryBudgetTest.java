package dev.mcpbridge.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
  private final MemoryBudget budget = new MemoryBudget(100);
  private final MemoryBudget.Share first = budget.share();
  private final MemoryBudget.Share second = budget.share();

  @Test
  void aSingleShareAlwaysHasRoom() {
    assertTrue(first.takeIfRoom(1000));
    assertFalse(second.takeIfRoom(1));
    assertTrue(first.takeIfRoom(2000));

    first.release();

    assertTrue(second.takeIfRoom(1));
    assertEquals(1, budget.held());
  }

  @Test
  void anExcessiveRequestChangesNothing() {
    second.take(60);

    assertFalse(first.takeIfRoom(41));
    assertEquals(60, budget.held());
    assertTrue(first.takeIfRoom(40));

    assertEquals(100, budget.held());
  }

  @Test
  void aShareCanShrinkAboveTheLimit() {
    second.take(200);
    first.take(50);

    assertTrue(first.takeIfRoom(49));

    assertEquals(249, budget.held());
  }

  @Test
  void aCompleteMessageKeepsItsRoomWithoutPriority() {
    second.take(60);
    second.becomeUnread();
    assertTrue(first.takeIfRoom(30));

    assertFalse(first.takeIfRoom(50));
    assertEquals(90, budget.held());

    budget.removeUnread(60);
    second.release();
    assertTrue(first.takeIfRoom(50));
    assertEquals(50, budget.held());
  }

  @Test
  void isHighFromThreeQuartersOfTheLimit() {
    first.take(74);
    assertFalse(budget.isHigh());
    first.take(75);
    assertTrue(budget.isHigh());
    first.release();
    assertFalse(budget.isHigh());
  }

  @Test
  void releaseIsIdempotent() {
    first.take(30);
    second.take(40);

    first.release();
    first.release();

    assertEquals(40, budget.held());
  }

  @Test
  void onlyOnePartialMessageContinuesAtTheLimit() {
    first.take(50);
    second.take(50);

    assertTrue(first.takeIfRoom(60));
    assertFalse(second.takeIfRoom(60));
    assertTrue(first.takeIfRoom(90));

    first.release();
    assertTrue(second.takeIfRoom(99));
  }

  @Test
  void anEmptyShareLosesItsPriority() {
    first.take(50);
    second.take(50);
    assertTrue(first.takeIfRoom(60));

    assertTrue(first.takeIfRoom(0));
    first.take(60);

    assertTrue(second.takeIfRoom(60));
  }

  @Test
  void aShareThatFitsLosesItsPriority() {
    first.take(50);
    second.take(50);
    assertTrue(first.takeIfRoom(60));
    second.take(10);
    assertTrue(first.takeIfRoom(70));

    second.take(60);

    assertTrue(second.takeIfRoom(61));
  }

  @Test
  void twoOversizedMessagesContinueInTurn() {
    first.take(60);
    second.take(60);

    assertTrue(first.takeIfRoom(200));
    assertFalse(second.takeIfRoom(200));

    first.release();
    assertTrue(second.takeIfRoom(200));
  }

  @Test
  void aNewMessageWaitsAtTheLimit() {
    second.take(90);

    assertFalse(first.takeIfRoom(20));
  }

  @Test
  void unreadResponsesStopPartialMessages() {
    first.take(20);
    budget.addUnread(90);

    assertFalse(first.takeIfRoom(30));

    budget.removeUnread(90);
    assertTrue(first.takeIfRoom(30));
    assertEquals(30, budget.held());
  }

  @Test
  void concurrentSharesNeverExceedTheLimit() {
    List<CompletableFuture<Boolean>> workers = new ArrayList<>();
    for (int worker = 0; worker < 4; worker++) {
      Random random = new Random(worker);
      workers.add(CompletableFuture.supplyAsync(() -> staysWithin(random)));
    }

    assertTrue(workers.stream().allMatch(CompletableFuture::join));

    assertEquals(0, budget.held());
  }

  private boolean staysWithin(Random random) {
    MemoryBudget.Share share = budget.share();
    boolean within = true;
    for (int i = 0; i < 20_000; i++) {
      share.release();
      share.takeIfRoom(1 + random.nextInt(50));
      within &= budget.held() <= 100;
    }
    share.release();
    return within;
  }
}
