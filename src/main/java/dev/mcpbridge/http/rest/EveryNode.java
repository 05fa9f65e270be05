package dev.mcpbridge.http.rest;

import dev.mcpbridge.bus.Address;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.cluster.Cluster;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;

/** Asks all nodes of the bridge, so that those that have not answered can be named. */
record EveryNode(Bus bus, Cluster cluster) {

  /**
   * The addresses of an operation, by the names of the nodes; that of a single bridge is empty.
   *
   * @param own the address at this node
   * @param at the address at a slot
   * @return null for a node that decides and is not a member: it cannot be asked
   */
  <Q, A> Map<String, Address<Q, A>> addresses(Address<Q, A> own, IntFunction<Address<Q, A>> at) {
    Map<String, Address<Q, A>> nodes = new TreeMap<>();
    Cluster.View view = cluster.view();
    view.voters().stream()
        .filter(voter -> view.members().stream().noneMatch(each -> each.address().equals(voter)))
        .forEach(voter -> nodes.put(voter, null));
    view.members().forEach(member -> nodes.put(member.name(), at.apply(member.slot())));
    nodes.put(cluster.isAlone() ? "" : cluster.name(), own);
    return nodes;
  }

  /**
   * Asks all nodes the same.
   *
   * @return the answers by the names of the nodes; empty for those that have not answered
   */
  <Q, A> Future<Map<String, Optional<A>>> askAll(
      Address<Q, A> own, IntFunction<Address<Q, A>> at, Q question) {
    Map<String, Optional<A>> answers = new TreeMap<>();
    List<Future<?>> asked = new ArrayList<>();
    addresses(own, at)
        .forEach(
            (node, address) ->
                asked.add(ask(address, question).onSuccess(answer -> answers.put(node, answer))));
    return Future.join(asked).map(all -> answers);
  }

  /**
   * Asks one node.
   *
   * @param node null if it cannot be asked
   * @return empty if it has not answered. Fails at a single bridge, and for a caller that asks too
   *     much, who may repeat the request
   */
  <Q, A> Future<Optional<A>> ask(Address<Q, A> node, Q question) {
    return node == null
        ? Future.succeededFuture(Optional.empty())
        : bus.request(node, question)
            .map(Optional::of)
            .recover(
                failure ->
                    cluster.isAlone() || mayBeRepeated(failure)
                        ? Future.failedFuture(failure)
                        : Future.succeededFuture(Optional.empty()));
  }

  private static boolean mayBeRepeated(Throwable failure) {
    ErrorCode code = BridgeException.of(failure).code();
    return code == ErrorCode.RATE_LIMITED || code == ErrorCode.OVERLOADED;
  }
}
