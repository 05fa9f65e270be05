package dev.mcpbridge.cluster.peer;

import io.vertx.core.Completable;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.AsyncMap;
import io.vertx.core.shareddata.Counter;
import io.vertx.core.shareddata.Lock;
import io.vertx.core.spi.cluster.ClusterManager;
import io.vertx.core.spi.cluster.NodeInfo;
import io.vertx.core.spi.cluster.NodeListener;
import io.vertx.core.spi.cluster.RegistrationInfo;
import io.vertx.core.spi.cluster.RegistrationListener;
import java.util.List;
import java.util.Map;

/**
 * Tells Vert.x where nodes are: the id of a node is its address, {@code host:port}, and an event
 * bus address ends with the id of the only node that has a consumer for it. So there are no
 * registrations that a frozen node could lose. Thread-safe.
 */
final class AddressedNodes implements ClusterManager {
  private final String self;
  private volatile NodeInfo info;
  private volatile boolean isActive;

  AddressedNodes(String self) {
    this.self = self;
  }

  /** The event bus address of a consumer at a node. */
  static String busAddress(String consumer, String node) {
    return consumer + "/" + node;
  }

  static String host(String node) {
    String host = node.substring(0, node.lastIndexOf(':'));
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  static int port(String node) {
    return Integer.parseInt(node.substring(node.lastIndexOf(':') + 1));
  }

  @Override
  public void getRegistrations(String address, Completable<List<RegistrationInfo>> result) {
    String node = address.substring(address.indexOf('/') + 1);
    result.succeed(List.of(new RegistrationInfo(node, 0, false)));
  }

  @Override
  public void getNodeInfo(String node, Completable<NodeInfo> result) {
    result.succeed(new NodeInfo(host(node), port(node), null));
  }

  @Override
  public String getNodeId() {
    return self;
  }

  @Override
  public NodeInfo getNodeInfo() {
    return info;
  }

  @Override
  public List<String> getNodes() {
    return List.of(self);
  }

  @Override
  public void setNodeInfo(NodeInfo newInfo, Completable<Void> result) {
    info = newInfo;
    result.succeed();
  }

  @Override
  public void join(Completable<Void> result) {
    isActive = true;
    result.succeed();
  }

  @Override
  public void leave(Completable<Void> result) {
    isActive = false;
    result.succeed();
  }

  @Override
  public boolean isActive() {
    return isActive;
  }

  @Override
  public void addRegistration(String address, RegistrationInfo of, Completable<Void> result) {
    result.succeed();
  }

  @Override
  public void removeRegistration(String address, RegistrationInfo of, Completable<Void> result) {
    result.succeed();
  }

  @Override
  public void init(Vertx vertx) {
    // nothing runs
  }

  @Override
  public void nodeListener(NodeListener listener) {
    // the list of nodes does not change
  }

  @Override
  public void registrationListener(RegistrationListener listener) {
    // registrations do not change
  }

  // --- shared data, which this event bus does not offer

  @Override
  public <K, V> void getAsyncMap(String name, Completable<AsyncMap<K, V>> result) {
    result.fail(new UnsupportedOperationException());
  }

  @Override
  public <K, V> Map<K, V> getSyncMap(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void getLockWithTimeout(String name, long timeout, Completable<Lock> result) {
    result.fail(new UnsupportedOperationException());
  }

  @Override
  public void getCounter(String name, Completable<Counter> result) {
    result.fail(new UnsupportedOperationException());
  }
}
