package dev.mcpbridge.call;

import dev.mcpbridge.access.AccessRules;
import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.Gate;
import dev.mcpbridge.bus.Gate.Decision;
import dev.mcpbridge.bus.Gate.PendingConfirmation;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.cluster.SingleNode;
import dev.mcpbridge.credentials.CredentialStore;
import dev.mcpbridge.credentials.UpstreamCredentials;
import dev.mcpbridge.fixture.BusFixture;
import dev.mcpbridge.fixture.EventLoops;
import dev.mcpbridge.fixture.PinFixture;
import dev.mcpbridge.fixture.ServerViews;
import dev.mcpbridge.memory.MemoryBudget;
import dev.mcpbridge.metrics.Counts;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.Confirmation;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.Scope;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.oauth.TokenExchange;
import dev.mcpbridge.pins.Pins;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.quota.Quotas;
import dev.mcpbridge.quota.Urgencies;
import dev.mcpbridge.validation.SchemaValidator;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** A call pipeline with one server that has no catalogue yet. */
final class OneServer {
  private static final Caller CALLER =
      Caller.of(new Principal("a", Set.of(Scope.CALL), Set.of(), null));

  static final ServerId ID = new ServerId("s");

  final Vertx vertx;
  final Cluster cluster = new SingleNode(Clock.systemUTC());
  final Bus bus;
  final CallPipeline pipeline;
  private final Promise<ServerView> ready = Promise.promise();
  private Decision decision = Decision.ALLOW;
  private int runs;

  OneServer(Vertx vertx) throws Exception {
    this.vertx = vertx;
    bus = BusFixture.of(vertx, cluster);
    Pins pins = PinFixture.of(PinRules.OFF);
    Directory directory = new Directory(bus, cluster, pins);
    ConsentTickets consents =
        new ConsentTickets(
            vertx,
            bus,
            CredentialStore.ofConsents(cluster),
            () -> "http://localhost",
            anyone -> true);
    pipeline =
        new CallPipeline(
            bus,
            new AccessControl(
                directory, consents, new Counts(), AccessRules.NONE, caller -> caller),
            new ArgumentValidator(new SchemaValidator(vertx, 100_000, 500), false, new Counts()),
            new OutputSchemaCheck(new SchemaValidator(vertx, 100_000, 500), bus, new Counts()),
            new CallerCredentials(
                new UpstreamCredentials(CredentialStore.ofConsents(cluster), any -> ""),
                new TokenExchange(vertx, server -> null),
                consents),
            new CallPipeline.Limits(
                new MemoryBudget(1 << 20),
                new Quotas(List.of(), () -> 1),
                new Urgencies(List.of()),
                pins),
            new Counts());
    EventLoops.await(vertx, () -> open(directory));
  }

  private Future<Void> open(Directory directory) {
    directory.open();
    bus.serve(Gate.ASSESS, assessment -> Future.succeededFuture(decision));
    bus.serve(Addresses.ready(ID), millis -> ready.future());
    bus.serve(
        Addresses.call(ID),
        call -> {
          runs++;
          return Future.succeededFuture(JsonSlice.EMPTY_OBJECT);
        });
    Promise<Void> published = Promise.promise();
    bus.subscribe(Addresses.INSTANCE_CHANGED, view -> published.complete());
    bus.publish(Addresses.INSTANCE_CHANGED, view(null));
    return published.future();
  }

  private static ServerView view(Catalogue catalogue) {
    return ServerViews.of(ID, new ServerState.Starting(0), catalogue, null, InstanceLocation.SOLE);
  }

  static CallRequest request(String id) {
    Target target = new Target(Target.Kind.RESOURCE, "r");
    return new CallRequest(id, ID, target, Arguments.NONE, CALLER, false);
  }

  /** Publishes the catalogue of the server. */
  void becomeReady() {
    ready.complete(view(Catalogue.EMPTY));
  }

  /** What the gate decides about the next calls. */
  void decide(Decision next) {
    decision = next;
  }

  /** Takes the records of the audit trail. */
  void record(Function<AuditRecord, Future<Void>> trail) {
    bus.serveDirectly(Addresses.AUDIT, trail);
  }

  /** The first call that waits for a human, from now on. */
  Future<Confirmation> nextConfirmation() {
    Promise<Confirmation> first = Promise.promise();
    bus.serve(
        Gate.CONFIRM_LATER,
        request -> {
          Confirmation pending =
              new Confirmation(
                  "1",
                  request.call(),
                  RiskLevel.MEDIUM,
                  request.definitionDigest(),
                  "digest",
                  0,
                  Long.MAX_VALUE);
          first.tryComplete(pending);
          return Future.succeededFuture(new PendingConfirmation(pending, "token"));
        });
    bus.serve(Gate.APPROVED_ENDED, ended -> Future.succeededFuture());
    return first.future();
  }

  int runs() {
    return runs;
  }
}
