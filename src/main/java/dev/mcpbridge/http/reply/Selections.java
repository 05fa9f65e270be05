package dev.mcpbridge.http.reply;

import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.profile.Selection;
import io.vertx.ext.web.RoutingContext;

/** What the path of a request selects, the same at every door. */
public final class Selections {
  private Selections() {}

  /**
   * The server or the profile in the path; all servers without one.
   *
   * @throws BridgeException SERVER_NOT_FOUND for a name that no server can have
   */
  public static Selection of(RoutingContext ctx) {
    String profile = ctx.pathParam("profile");
    if (profile != null) {
      return Selection.ofProfile(profile);
    }
    String server = ctx.pathParam("server");
    return server == null ? Selection.ALL : Selection.of(server(server));
  }

  /** A server by its name; an invalid name fails like that of an unknown server. */
  public static ServerId server(String name) {
    if (!ServerId.isValid(name)) {
      throw new BridgeException(
          ErrorCode.SERVER_NOT_FOUND,
          "Server '" + Problems.printable(name) + "' not found or not connected");
    }
    return new ServerId(name);
  }
}
