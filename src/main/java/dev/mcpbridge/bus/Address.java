package dev.mcpbridge.bus;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;

/**
 * Where one kind of question is answered.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 * @param what it is about, at whoever it is asked of
 * @param addressScope on which node
 * @param question how it travels; null where it never does
 * @param answer how it travels; null where it never does
 * @param answerTimeout how long another node may take
 */
public record Address<Q, A>(
    String what,
    AddressScope addressScope,
    WireCodec<Q> question,
    WireCodec<A> answer,
    AnswerTimeout<Q> answerTimeout) {

  /** How long an answer may take, in milliseconds. */
  interface AnswerTimeout<Q> {
    long millis(Q question);
  }

  static <Q, A> Address<Q, A> here(String name) {
    return new Address<>(name, AddressScope.HERE, null, null, question -> Long.MAX_VALUE);
  }

  static <Q, A> Address<Q, A> atAnyOwner(
      ServerId server,
      String what,
      WireCodec<Q> question,
      WireCodec<A> answer,
      AnswerTimeout<Q> answerTimeout) {
    return new Address<>(what, AddressScope.anyOwner(server), question, answer, answerTimeout);
  }

  static <Q, A> Address<Q, A> atOwner(
      InstanceId instanceId,
      String what,
      WireCodec<Q> question,
      WireCodec<A> answer,
      AnswerTimeout<Q> answerTimeout) {
    return new Address<>(what, AddressScope.owner(instanceId), question, answer, answerTimeout);
  }

  /** The same at one part of the server. */
  public Address<Q, A> at(InstanceId instanceId) {
    return atOwner(instanceId, what, question, answer, answerTimeout);
  }

  String name() {
    return addressScope.name(what);
  }
}
