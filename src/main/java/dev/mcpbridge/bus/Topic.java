package dev.mcpbridge.bus;

import dev.mcpbridge.model.ServerId;

/**
 * Where one kind of news is published.
 *
 * @param <T> the news
 * @param what it is about, at whoever it is for
 * @param addressScope on which nodes
 * @param wireCodec how it travels; null where it never does
 */
public record Topic<T>(String what, AddressScope addressScope, WireCodec<T> wireCodec) {

  static <T> Topic<T> here(String name) {
    return new Topic<>(name, AddressScope.HERE, null);
  }

  static <T> Topic<T> everywhere(String name, WireCodec<T> wireCodec) {
    return new Topic<>(name, AddressScope.EVERYWHERE, wireCodec);
  }

  /** For whoever has a part of a server. */
  static <T> Topic<T> atOwners(ServerId server, String what, WireCodec<T> wireCodec) {
    return new Topic<>(what, AddressScope.anyOwner(server), wireCodec);
  }

  String name() {
    return addressScope.name(what);
  }
}
