package dev.mcpbridge.transport;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.error.Executed;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;

/** What is known of a request that failed on its way. Stateless. */
final class ConnectFailures {
  private ConnectFailures() {}

  /** In words that somebody can act on: a certificate is refused for a reason. */
  static String why(Throwable failure) {
    if (!isCertificateRefused(failure)) {
      return failure.getMessage();
    }
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String is = "is not trusted";
    if (root instanceof CertificateExpiredException) {
      is = "has expired";
    } else if (root instanceof CertificateNotYetValidException) {
      is = "is not valid yet";
    }
    return "its certificate " + is + ": " + root.getMessage();
  }

  /** A server that is not there, or that is not trusted, was sent nothing. */
  static Executed executed(Throwable failure) {
    boolean isUnsent =
        failure instanceof ConnectException
            || failure instanceof UnknownHostException
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

  /** Tells that a request is lost, if it is one. */
  static void lost(TransportListener listener, long id, Throwable failure) {
    if (id >= 0) {
      listener.lost(
          id,
          failure instanceof BridgeException known
              ? known
              : new BridgeException(ErrorCode.UPSTREAM_CRASHED, failure.getMessage())
                  .withExecuted(Executed.UNKNOWN));
    }
  }
}
