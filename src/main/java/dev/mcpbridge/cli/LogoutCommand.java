package dev.mcpbridge.cli;

import dev.mcpbridge.cli.login.Logins;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Ends a login at a bridge. */
@Command(
    name = "logout",
    description = "End the login at a bridge, and revoke its tokens.",
    mixinStandardHelpOptions = true)
final class LogoutCommand implements Callable<Integer> {
  @Mixin private BridgeClient bridge;

  @Override
  public Integer call() throws Exception {
    Logins.Ended ended = Logins.ofUser().end(bridge.base());
    System.out.println(
        (ended.wasLoggedIn() ? "Logged out of " : "There was no login at ") + bridge.base());
    if (ended.wasLoggedIn() && !ended.isRevoked()) {
      System.err.println("The issuer did not revoke the tokens, which are valid until they expire");
    }
    return 0;
  }
}
