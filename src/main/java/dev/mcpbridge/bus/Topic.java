package dev.mcpbridge.bus;

/**
 * A topic that messages of one type are published to.
 *
 * @param <T> type of the messages
 * @param what name of the topic within its scope
 * @param addressScope the nodes that receive the messages
 * @param wireCodec codec of the messages; null if they never leave this node
 */
public record Topic<T>(String what, AddressScope addressScope, WireCodec<T> wireCodec) {

  static <T> Topic<T> local(String name) {
    return new Topic<>(name, AddressScope.LOCAL, null);
  }

  static <T> Topic<T> toAllNodes(String name, WireCodec<T> wireCodec) {
    return new Topic<>(name, AddressScope.ALL_NODES, wireCodec);
  }

  String name() {
    return addressScope.name(what);
  }
}
