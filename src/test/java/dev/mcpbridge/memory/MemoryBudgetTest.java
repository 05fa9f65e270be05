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
  private final MemoryBudget.Share one = budget.share();
  private final MemoryBudget.Share other = budget.share();

  @Test
  void whatIsAloneHasRoomHoweverMuchItIs() {
    assertTrue(one.takeIfRoom(1000));
    assertFalse(other.takeIfRoom(1));
    assertTrue(one.takeIfRoom(2000));

    one.release();

    assertTrue(other.takeIfRoom(1));
    assertEquals(1, budget.held());
  }

  @Test
  void whatIsTooMuchWithTheOthersChangesNothing() {
    other.take(60);

    assertFalse(one.takeIfRoom(41));
    assertEquals(60, budget.held());
    assertTrue(one.takeIfRoom(40));

    assertEquals(100, budget.held());
  }

  @Test
  void whatBecomesLessHasRoomEvenWhereThereIsTooMuch() {
    other.take(200);
    one.take(50);

    assertTrue(one.takeIfRoom(49));

    assertEquals(249, budget.held());
  }

  @Test
  void whatIsWholeKeepsItsRoomAndLetsNobodyGoFirst() {
    other.take(60);
    other.becomesGiven();
    assertTrue(one.takeIfRoom(30));

    assertFalse(one.takeIfRoom(50));
    assertEquals(90, budget.held());

    budget.taken(60);
    other.release();
    assertTrue(one.takeIfRoom(50));
    assertEquals(50, budget.held());
  }

  @Test
  void isHighFromThreeQuartersOn() {
    one.take(74);
    assertFalse(budget.isHigh());
    one.take(75);
    assertTrue(budget.isHigh());
    one.release();
    assertFalse(budget.isHigh());
  }

  @Test
  void whatIsGivenBackTwiceIsGivenBackOnce() {
    one.take(30);
    other.take(40);

    one.release();
    one.release();

    assertEquals(40, budget.held());
  }

  @Test
  void ofWhatHasComeInInPartOneGoesOnAndTheOthersWaitForIt() {
    one.take(50);
    other.take(50);

    assertTrue(one.takeIfRoom(60));
    assertFalse(other.takeIfRoom(60));
    assertTrue(one.takeIfRoom(90));

    one.release();
    assertTrue(other.takeIfRoom(99));
  }

  @Test
  void whoeverHasNothingLeftLetsOthersGoFirst() {
    one.take(50);
    other.take(50);
    assertTrue(one.takeIfRoom(60));

    assertTrue(one.takeIfRoom(0));
    one.take(60);

    assertTrue(other.takeIfRoom(60));
  }

  @Test
  void whoeverHasRoomLikeEverybodyDoesNotGoFirstAnyMore() {
    one.take(50);
    other.take(50);
    assertTrue(one.takeIfRoom(60));
    other.take(10);
    assertTrue(one.takeIfRoom(70));

    other.take(60);

    assertTrue(other.takeIfRoom(61));
  }

  @Test
  void ofTwoThatAreTooMuchEachOneGoesFirst() {
    one.take(60);
    other.take(60);

    assertTrue(one.takeIfRoom(200));
    assertFalse(other.takeIfRoom(200));

    one.release();
    assertTrue(other.takeIfRoom(200));
  }

  @Test
  void whatHasNotBegunToComeInWaits() {
    other.take(90);

    assertFalse(one.takeIfRoom(20));
  }

  @Test
  void nothingGoesOnWhereItIsTheAnswersThatAreInTheWay() {
    one.take(20);
    budget.given(90);

    assertFalse(one.takeIfRoom(30));

    budget.taken(90);
    assertTrue(one.takeIfRoom(30));
    assertEquals(30, budget.held());
  }

  @Test
  void ofManyThreadsNothingIsLostAndWhatHadToAskIsNeverTooMuch() {
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
