package dev.mcpbridge.bus;

import dev.mcpbridge.model.ServerId;

/**
 * Where one kind of question is answered.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 * @param reach on which node
 * @param question how it travels; null where it never does
 * @param answer how it travels; null where it never does
 * @param patience how long another node may take
 */
public record Address<Q, A>(
    String name, Reach reach, Form<Q> question, Form<A> answer, Patience<Q> patience) {

  /** How long an answer may take, in milliseconds. */
  interface Patience<Q> {
    long millis(Q question);
  }

  static <Q, A> Address<Q, A> here(String name) {
    return new Address<>(name, Reach.HERE, null, null, question -> Long.MAX_VALUE);
  }

  static <Q, A> Address<Q, A> atOwner(
      ServerId server, String what, Form<Q> question, Form<A> answer, Patience<Q> patience) {
    Reach owner = Reach.owner(server);
    return new Address<>(owner.name(what), owner, question, answer, patience);
  }
}
