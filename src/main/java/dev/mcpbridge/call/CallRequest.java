package dev.mcpbridge.call;

import dev.mcpbridge.model.Caller;
import dev.mcpbridge.model.Principal;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.Target;
import dev.mcpbridge.protocol.Arguments;
import dev.mcpbridge.protocol.Envelope;
import java.util.function.UnaryOperator;

/**
 * A request of a door to run a call.
 *
 * @param id from {@link CallIds}
 * @param streaming whether progress events are published
 * @param envelope what else the client sent
 */
public record CallRequest(
    String id,
    ServerId server,
    Target target,
    Arguments arguments,
    Caller caller,
    boolean streaming,
    Envelope envelope) {

  /** The same request with the rights that its caller has by now. */
  CallRequest with(UnaryOperator<Principal> rights) {
    Principal present = rights.apply(caller.principal());
    return present == caller.principal()
        ? this
        : new CallRequest(
            id, server, target, arguments, caller.withPrincipal(present), streaming, envelope);
  }

  /** A request of a client that sends only arguments. */
  public CallRequest(
      String id,
      ServerId server,
      Target target,
      Arguments arguments,
      Caller caller,
      boolean streaming) {
    this(id, server, target, arguments, caller, streaming, Envelope.NONE);
  }
}
