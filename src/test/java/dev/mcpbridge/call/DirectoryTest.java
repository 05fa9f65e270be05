package dev.mcpbridge.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Addresses.InstanceStopped;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.OwnershipView;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.fixture.BridgeVertx;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.PinFixture;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.fixture.Stubs;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.junit5.ProvidedBy;
import io.vertx.junit5.VertxExtension;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Which of several published views of a server counts. */
@ExtendWith(VertxExtension.class)
class DirectoryTest {
  private static final ServerId SERVER = new ServerId("s");
  private static final ServerId LAST = new ServerId("last");

  private Vertx vertx;
  private Bus bus;
  private Directory directory;
  private String state = "member";
  private long ownersEpoch;
  private boolean isExpected;
  private List<InstanceId> instances = List.of();
  private Promise<Void> change = Promise.promise();

  @BeforeEach
  void open(@ProvidedBy(BridgeVertx.class) Vertx vertx) {
    this.vertx = vertx;
    bus = BusFixture.of(vertx);
    directory = new Directory(bus, node(), PinFixture.of(PinRules.OFF));
    directory.open();
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
                      (query, name) ->
                          switch (query) {
                            case "epoch" -> ownersEpoch;
                            case "instances" -> instances;
                            case "isExpected" -> isExpected;
                            default -> true;
                          });
              case "change" -> change.future();
              case "view" -> new Cluster.View(state, "n1", null, List.of(), 0, 0, List.of());
              default -> throw new AssertionError(method);
            });
  }

  private void publishView(String lastError, long epoch) {
    publishView(SERVER, lastError, epoch);
  }

  private void publishView(ServerId server, String lastError, long epoch) {
    bus.publish(
        Addresses.INSTANCE_CHANGED, view(server, lastError, new InstanceLocation(1, "n2", epoch)));
  }

  private static ServerView view(ServerId server, String lastError, InstanceLocation location) {
    return ServerViews.of(server, new ServerState.Stopped(), null, lastError, location);
  }

  /** The reason in the present view of the server, after all published views were received. */
  private String currentReason() throws Exception {
    publishView(LAST, "", 0);
    return awaitLast().await(20, TimeUnit.SECONDS);
  }

  private Future<String> awaitLast() {
    return vertx
        .timer(1)
        .compose(
            done ->
                directory.exists(LAST)
                    ? directory.find(SERVER).map(view -> view.lastError().reason())
                    : awaitLast());
  }

  @Test
  void viewOfEarlierOwnerIsIgnored() throws Exception {
    ownersEpoch = 10;
    publishView("new", 10);
    publishView("old", 9);

    assertEquals("new", currentReason());
  }

  @Test
  void viewOfOwnerIsAcceptedWithLowerEpoch() throws Exception {
    ownersEpoch = 10;
    publishView("before", 10);
    ownersEpoch = 4;
    publishView("after a restart of all nodes", 4);

    assertEquals("after a restart of all nodes", currentReason());
  }

  @Test
  void releasedInstanceIsRemoved() throws Exception {
    InstanceLocation second = new InstanceLocation(2, "n1", 5);
    instances = InstanceId.all(SERVER, 2);
    publishView("first", 4);
    bus.publish(Addresses.INSTANCE_CHANGED, view(SERVER, "second", second));
    currentReason();
    assertEquals(InstanceId.all(SERVER, 2), directory.find(SERVER).result().instances());

    bus.publish(Addresses.INSTANCE_STOPPED, new InstanceStopped(SERVER, second));
    vertx.setTimer(
        1,
        done -> {
          instances = List.of(InstanceId.first(SERVER));
          change.complete();
        });

    while (directory.find(SERVER).result().instances().size() > 1) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    assertEquals("first", directory.find(SERVER).result().lastError().reason());
  }

  @Test
  void unknownServerWithoutQuorumIsNotReportedAsNotFound() {
    state = "joining";
    assertEquals(ErrorCode.NO_QUORUM, failure());

    state = "member";
    assertEquals(ErrorCode.SERVER_NOT_FOUND, failure());
  }

  @Test
  void expectedServerIsReportedAsUnavailable() {
    isExpected = true;

    assertEquals(ErrorCode.SERVER_UNAVAILABLE, failure());
  }

  private ErrorCode failure() {
    return assertInstanceOf(BridgeException.class, directory.find(SERVER).cause()).code();
  }
}
