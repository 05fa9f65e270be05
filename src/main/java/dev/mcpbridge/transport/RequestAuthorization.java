package dev.mcpbridge.transport;

import io.vertx.core.Future;
import java.util.List;

/** The credential of a connection to a server. Used on the context of the connection. */
public interface RequestAuthorization {

  /** No credential beside the configured headers. */
  RequestAuthorization NONE =
      new RequestAuthorization() {
        @Override
        public Future<String> header() {
          return Future.succeededFuture();
        }

        @Override
        public Future<Void> refused(Refusal refusal) {
          return Future.failedFuture("there is no other credential");
        }
      };

  /**
   * The value of Authorization for the next request; null for none. Fails with CONSENT_REQUIRED if
   * the caller has to agree first.
   */
  Future<String> header();

  /**
   * A request that the server refused for lack of a credential or of a scope.
   *
   * @param sent the value of Authorization in it; null for none
   * @param challenges the values of WWW-Authenticate
   * @param isRepeated whether it was sent again with another credential after a refusal
   */
  record Refusal(String sent, int status, List<String> challenges, boolean isRepeated) {}

  /**
   * The server refused a request.
   *
   * @return succeeds if the request may be repeated with another credential; fails with
   *     CONSENT_REQUIRED if the caller has to agree first
   */
  Future<Void> refused(Refusal refusal);
}
