package dev.mcpbridge.bus;

import dev.mcpbridge.model.InstanceId;
import dev.mcpbridge.model.ServerId;

/**
 * The address of one kind of request.
 *
 * @param <Q> type of the request
 * @param <A> type of the response
 * @param operation name of the operation within its scope
 * @param addressScope the nodes that may serve it
 * @param requestCodec codec of the request; null if it never leaves this node
 * @param responseCodec codec of the response; null if it never leaves this node
 * @param answerTimeout how long another node may take to respond
 */
public record Address<Q, A>(
    String operation,
    AddressScope addressScope,
    WireCodec<Q> requestCodec,
    WireCodec<A> responseCodec,
    AnswerTimeout<Q> answerTimeout) {

  /** The response timeout of a request, in milliseconds. */
  interface AnswerTimeout<Q> {
    long millis(Q question);
  }

  static <Q, A> Address<Q, A> local(String name) {
    return new Address<>(name, AddressScope.LOCAL, null, null, question -> Long.MAX_VALUE);
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

  /** The same operation at one instance of the server. */
  public Address<Q, A> at(InstanceId instanceId) {
    return atOwner(instanceId, operation, requestCodec, responseCodec, answerTimeout);
  }

  String name() {
    return addressScope.name(operation);
  }
}
