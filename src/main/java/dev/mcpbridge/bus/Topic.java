package dev.mcpbridge.bus;

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
}
