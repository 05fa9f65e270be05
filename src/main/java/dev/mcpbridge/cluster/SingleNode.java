package dev.mcpbridge.cluster;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;
import io.vertx.core.Future;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/** A bridge without a cluster: the only node, which owns all servers. */
public final class SingleNode implements Cluster {
  private final Clock clock;
  private final String bridge = UUID.randomUUID().toString();
  private final Map<String, SharedMap> maps = new HashMap<>();
  private final Map<String, byte[]> keys = new HashMap<>();
  private final OwnershipView ownershipView = new AllOwned();
  private Set<InstanceId> instances = Set.of();

  public SingleNode(Clock clock) {
    this.clock = clock;
  }

  @Override
  public Future<Void> open(String url) {
    return Future.succeededFuture();
  }

  @Override
  public boolean isAlone() {
    return true;
  }

  @Override
  public int slot() {
    return 0;
  }

  @Override
  public long incarnation() {
    return 0;
  }

  @Override
  public boolean isAlive(int slot, long life) {
    return true;
  }

  @Override
  public String name() {
    return null;
  }

  @Override
  public String bridge() {
    return bridge;
  }

  @Override
  public int owner(InstanceId instanceId) {
    return THIS_NODE;
  }

  @Override
  public BooleanSupplier mayRun(InstanceId instanceId) {
    return () -> true;
  }

  @Override
  public OwnershipView owners() {
    return ownershipView;
  }

  @Override
  public boolean fits(List<String> placement) {
    return true;
  }

  @Override
  public byte[] key(String purpose) {
    return keys.computeIfAbsent(purpose, unused -> randomKey());
  }

  private static byte[] randomKey() {
    byte[] key = new byte[32];
    new SecureRandom().nextBytes(key);
    return key;
  }

  @Override
  public SharedMap map(String name) {
    return maps.computeIfAbsent(name, unused -> new LocalMap(name, clock));
  }

  @Override
  public String name(int slot) {
    return null;
  }

  @Override
  public Future<Void> offer(Set<InstanceId> offered, OwnershipListener listener) {
    instances = new LinkedHashSet<>(offered);
    listener.changed();
    return Future.succeededFuture();
  }

  @Override
  public Set<InstanceId> assigned() {
    return instances;
  }

  @Override
  public Set<InstanceId> owned() {
    return instances;
  }

  @Override
  public void stopped(InstanceId instanceId) {
    // no other node waits for the release
  }

  @Override
  public Future<Void> leave() {
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> change() {
    return Future.succeededFuture();
  }

  @Override
  public Future<byte[]> ask(int slot, String address, byte[] body, long timeoutMillis) {
    return Future.failedFuture(
        new BridgeException(ErrorCode.NODE_UNREACHABLE, "This bridge is not part of a cluster"));
  }

  @Override
  public void tell(int slot, String topic, byte[] body) {
    // there are no other nodes
  }

  @Override
  public void tellAll(String topic, byte[] body) {
    // there are no other nodes
  }

  @Override
  public void serve(PeerListener peerListener) {
    // there are no other nodes
  }

  @Override
  public View view() {
    return new View("alone", null, null, List.of(), 0, 0, List.of());
  }

  @Override
  public Future<Void> setVoter(String node, boolean isVoter) {
    return Future.failedFuture(
        new BridgeException(ErrorCode.VOTERS_UNCHANGED, "This bridge is not part of a cluster"));
  }

  @Override
  public BooleanSupplier mayAct() {
    return () -> true;
  }

  @Override
  public boolean isCutOff() {
    return false;
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  private final class AllOwned implements OwnershipView {
    @Override
    public Collection<InstanceId> instances(ServerId server) {
      return isOwned(server) ? List.of(InstanceId.first(server)) : List.of();
    }

    @Override
    public boolean isOwned(ServerId server) {
      return instances.contains(InstanceId.first(server));
    }

    @Override
    public boolean isExpected(ServerId server) {
      return isOwned(server);
    }

    @Override
    public boolean hasCandidate(ServerId server) {
      return true;
    }

    @Override
    public boolean knows(ServerId server) {
      return isOwned(server);
    }

    @Override
    public long epoch(InstanceId instanceId) {
      return 0;
    }
  }
}
