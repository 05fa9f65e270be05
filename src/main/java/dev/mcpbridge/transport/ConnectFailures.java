package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import io.vertx.core.http.StreamResetException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;

/** Classifies failures to connect or to send a request. Stateless. */
final class ConnectFailures {
  /** The request was not processed (RFC 9113 section 8.7). */
  private static final long REFUSED_STREAM = 7;

  private ConnectFailures() {}

  /** The reason of a failure; for a refused certificate, why it was refused. */
  static String reason(Throwable failure) {
    if (!isCertificateRefused(failure)) {
      return failure.getMessage();
    }
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String problem = "is not trusted";
    if (root instanceof CertificateExpiredException) {
      problem = "has expired";
    } else if (root instanceof CertificateNotYetValidException) {
      problem = "is not valid yet";
    }
    return "its certificate " + problem + ": " + root.getMessage();
  }

  /** NO if nothing was sent: the server was unreachable or its certificate refused. */
  static Executed executed(Throwable failure) {
    boolean isUnsent =
        failure instanceof ConnectException
            || failure instanceof UnknownHostException
            || failure instanceof StreamResetException reset && reset.getCode() == REFUSED_STREAM
            || isCertificateRefused(failure);
    return isUnsent ? Executed.NO : Executed.UNKNOWN;
  }

  private static boolean isCertificateRefused(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateException) {
        return true;
      }
    }
    return false;
  }

  /** Reports a request as lost; does nothing for a negative id, which is not a request. */
  static void reportLost(TransportListener listener, long id, Throwable failure) {
    if (id >= 0) {
      listener.lost(
          id,
          failure instanceof BridgeException bridgeFailure
              ? bridgeFailure
              : new BridgeException(ErrorCode.UPSTREAM_CRASHED, failure.getMessage())
                  .withExecuted(Executed.UNKNOWN));
    }
  }
}
