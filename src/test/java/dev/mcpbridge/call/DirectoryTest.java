package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.OwnershipView;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which of several words about a server counts. */
class DirectoryTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final ServerId LAST = new ServerId("last");

  private final Vertx vertx = Bridge.vertx();
  private final SingleNode singleNode = new SingleNode(Clock.systemUTC());
  private final Bus bus = Bus.create(vertx, singleNode, new Counts());
  private final Directory directory = new Directory(bus, node());
  private String state = "member";
  private long ownersEpoch;
  private boolean isExpected;
  private List<InstanceId> there = List.of();
  private Promise<Void> change = Promise.promise();

  @BeforeEach
  void open() {
    directory.open();
  }

  @AfterEach
  void close() throws TimeoutException {
    vertx.close().await(20, TimeUnit.SECONDS);
  }

  private Cluster node() {
    return Stubs.of(
        Cluster.class,
        (method, arguments) ->
            switch (method) {
              case "isAlone" -> false;
              case "owners" ->
                  Stubs.of(
                      OwnershipView.class,
                      (question, name) ->
                          switch (question) {
                            case "epoch" -> ownersEpoch;
                            case "parts" -> there;
                            case "isExpected" -> isExpected;
                            default -> true;
                          });
              case "change" -> change.future();
              case "view" -> new Cluster.View(state, "n1", null, List.of(), 0, 0);
              default -> throw new AssertionError(method);
            });
  }

  private void say(String word, long epoch) {
    say(SERVER, word, epoch);
  }

  private void say(ServerId server, String word, long epoch) {
    bus.publish(Addresses.PART_CHANGED, view(server, word, new InstanceLocation(1, "n2", epoch)));
  }

  private static ServerView view(ServerId server, String word, InstanceLocation at) {
    return ServerViews.of(server, new ServerState.Stopped(), null, word, at);
  }

  /** What is known of the server once everything that was said has been heard. */
  private String heard() throws Exception {
    say(LAST, "", 0);
    return known().await(20, TimeUnit.SECONDS);
  }

  private Future<String> known() {
    return vertx
        .timer(1)
        .compose(
            later ->
                directory.isKnown(LAST)
                    ? directory.find(SERVER).map(view -> view.lastError().reason())
                    : known());
  }

  @Test
  void whatAnEarlierOwnerStillSaysComesTooLate() throws Exception {
    ownersEpoch = 10;
    say("new", 10);
    say("old", 9);

    assertEquals("new", heard());
  }

  @Test
  void theOwnerIsBelievedThoughItsEpochIsLowerThanBefore() throws Exception {
    ownersEpoch = 10;
    say("before", 10);
    ownersEpoch = 4;
    say("after all was forgotten", 4);

    assertEquals("after all was forgotten", heard());
  }

  @Test
  void anInstanceThatNobodyHasAnyMoreIsNotShown() throws Exception {
    InstanceLocation second = new InstanceLocation(2, "n1", 5);
    there = InstanceId.all(SERVER, 2);
    say("first", 4);
    bus.publish(Addresses.PART_CHANGED, view(SERVER, "second", second));
    heard();
    assertEquals(InstanceId.all(SERVER, 2), directory.find(SERVER).result().parts());

    bus.publish(Addresses.PART_GONE, new InstanceStopped(SERVER, second));
    vertx.setTimer(
        1,
        later -> {
          there = List.of(InstanceId.first(SERVER));
          change.complete();
        });

    while (directory.find(SERVER).result().parts().size() > 1) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    assertEquals("first", directory.find(SERVER).result().lastError().reason());
  }

  @Test
  void aNodeThatHasNotJoinedDoesNotSayThatThereIsNoSuchServer() {
    state = "joining";
    assertEquals(ErrorCode.NO_QUORUM, failure());

    state = "member";
    assertEquals(ErrorCode.SERVER_NOT_FOUND, failure());
  }

  @Test
  void aServerOfWhichNothingWasHeardYetIsNotSaidNotToBeThere() {
    isExpected = true;

    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure());
  }

  private ErrorCode failure() {
    return assertInstanceOf(BridgeException.class, directory.find(SERVER).cause()).code();
  }
}
