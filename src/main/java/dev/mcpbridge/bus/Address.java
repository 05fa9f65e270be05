package dev.mcpbridge.bus;

import dev.mcpbridge.model.Part;
import dev.mcpbridge.model.ServerId;

/**
 * Where one kind of question is answered.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 * @param what it is about, at whoever it is asked of
 * @param reach on which node
 * @param question how it travels; null where it never does
 * @param answer how it travels; null where it never does
 * @param patience how long another node may take
 */
public record Address<Q, A>(
    String what, Reach reach, Form<Q> question, Form<A> answer, Patience<Q> patience) {

  /** How long an answer may take, in milliseconds. */
  interface Patience<Q> {
    long millis(Q question);
  }

  static <Q, A> Address<Q, A> here(String name) {
    return new Address<>(name, Reach.HERE, null, null, question -> Long.MAX_VALUE);
  }

  static <Q, A> Address<Q, A> atAnyOwner(
      ServerId server, String what, Form<Q> question, Form<A> answer, Patience<Q> patience) {
    return new Address<>(what, Reach.anyOwner(server), question, answer, patience);
  }

  static <Q, A> Address<Q, A> atOwner(
      Part part, String what, Form<Q> question, Form<A> answer, Patience<Q> patience) {
    return new Address<>(what, Reach.owner(part), question, answer, patience);
  }

  /** The same at one part of the server. */
  public Address<Q, A> at(Part part) {
    return atOwner(part, what, question, answer, patience);
  }

  String name() {
    return reach.name(what);
  }
}
