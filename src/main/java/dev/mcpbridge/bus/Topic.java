package dev.mcpbridge.bus;

import dev.mcpbridge.model.ServerId;

/**
 * Where one kind of news is published.
 *
 * @param <T> the news
 * @param what it is about, at whoever it is for
 * @param reach on which nodes
 * @param form how it travels; null where it never does
 */
public record Topic<T>(String what, Reach reach, Form<T> form) {

  static <T> Topic<T> here(String name) {
    return new Topic<>(name, Reach.HERE, null);
  }

  static <T> Topic<T> everywhere(String name, Form<T> form) {
    return new Topic<>(name, Reach.EVERYWHERE, form);
  }

  /** For whoever has a part of a server. */
  static <T> Topic<T> atOwners(ServerId server, String what, Form<T> form) {
    return new Topic<>(what, Reach.anyOwner(server), form);
  }

  String name() {
    return reach.name(what);
  }
}
