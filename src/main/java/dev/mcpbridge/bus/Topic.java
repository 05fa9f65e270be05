package dev.mcpbridge.bus;

import dev.mcpbridge.model.ServerId;

/**
 * Where one kind of news is published.
 *
 * @param <T> the news
 * @param reach on which nodes
 * @param form how it travels; null where it never does
 */
public record Topic<T>(String name, Reach reach, Form<T> form) {

  static <T> Topic<T> here(String name) {
    return new Topic<>(name, Reach.HERE, null);
  }

  static <T> Topic<T> everywhere(String name, Form<T> form) {
    return new Topic<>(name, Reach.EVERYWHERE, form);
  }

  static <T> Topic<T> atOwner(ServerId server, String what, Form<T> form) {
    Reach owner = Reach.owner(server);
    return new Topic<>(owner.name(what), owner, form);
  }
}
