package dev.mcpbridge.server;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.limit.TimeLimit;
import dev.mcpbridge.model.Call;
import dev.mcpbridge.oauth.OAuthClient;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.transport.RequestAuthorization;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;

/**
 * Calls of an HTTP API, which all callers share, each with its caller's credential. A call that the
 * API refuses for its credential was not executed, so it is repeated once with another one.
 */
record AuthorizedCalls(OAuthClient oauth, Function<Call, Future<JsonSlice>> calls) {

  Future<JsonSlice> run(Call call) {
    return call.caller().authorization() == null
        ? run(call, true)
        : calls
            .apply(call)
            .recover(
                failure ->
                    Future.failedFuture(
                        isRefusal(failure)
                            ? new BridgeException(
                                ErrorCode.UPSTREAM_ERROR,
                                "The API refuses the credential that its caller sent")
                            : failure));
  }

  private Future<JsonSlice> run(Call call, boolean mayRepeat) {
    RequestAuthorization authorization = oauth.of(call.caller());
    return TimeLimit.beforeCall(call.deadlineNanos(), authorization.header())
        .compose(
            header ->
                calls
                    .apply(header == null ? call : call.withAuthorization(header))
                    .recover(
                        failure ->
                            isRefusal(failure)
                                ? repeat(call, authorization, header, failure, mayRepeat)
                                : Future.failedFuture(failure)));
  }

  private static boolean isRefusal(Throwable failure) {
    return failure instanceof BridgeException known && known.code() == ErrorCode.CONSENT_REQUIRED;
  }

  private Future<JsonSlice> repeat(
      Call call,
      RequestAuthorization authorization,
      String sent,
      Throwable failure,
      boolean mayRepeat) {
    BridgeException refusal = (BridgeException) failure;
    Object challenge = refusal.members().getOrDefault("challenge", "");
    int status = refusal.members().get("status") instanceof Integer given ? given : 401;
    return TimeLimit.beforeCall(
            call.deadlineNanos(),
            authorization.refused(
                new RequestAuthorization.Refusal(
                    sent, status, List.of(challenge.toString()), !mayRepeat)))
        .compose(
            other ->
                mayRepeat
                    ? run(call, false)
                    : Future.failedFuture(
                        new BridgeException(ErrorCode.CONSENT_REQUIRED, refusal.getMessage())));
  }
}
