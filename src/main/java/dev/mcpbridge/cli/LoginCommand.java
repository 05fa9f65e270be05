package dev.mcpbridge.cli;

import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.cli.login.Logins;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Logs in at the issuer of a bridge, for the other commands. */
@Command(
    name = "login",
    description = "Log in to a bridge that takes access tokens.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The login is stored in $XDG_STATE_HOME/mcp-bridge/logins.json and used by tools, call,",
      "confirm, access, agent and stdio for the same URL, unless MCP_BRIDGE_KEY is set.",
      "mcp-bridge logout ends it."
    })
final class LoginCommand implements Callable<Integer> {
  @Mixin private BridgeClient bridge;

  @Option(
      names = "--device",
      description = "Log in with a browser on another machine, by a code (RFC 8628).")
  private boolean device;

  @Option(
      names = "--client-id",
      paramLabel = "ID",
      defaultValue = "${env:MCP_BRIDGE_CLIENT_ID:-}",
      description =
          "A client that the issuer knows (default:%nMCP_BRIDGE_CLIENT_ID, else a new one is"
              + " registered).%nIts secret, if it has one, is read from%nMCP_BRIDGE_CLIENT_SECRET"
              + " in the environment.")
  private String clientId;

  @Option(
      names = "--scopes",
      split = ",",
      paramLabel = "SCOPE,...",
      hideParamSyntax = true,
      description = "What to ask for (default: the scopes that the%nbridge publishes).")
  private List<String> scopes = List.of();

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "0",
      description =
          "Port of 127.0.0.1 to which the issuer sends the%nbrowser back, at /callback (default:"
              + " any).")
  private int port;

  @Override
  public Integer call() throws Exception {
    Logins.Request request =
        new Logins.Request(
            clientId, System.getenv("MCP_BRIDGE_CLIENT_SECRET"), List.copyOf(scopes), port);
    Logins.ofUser().begin(bridge.base(), request, device, System.err::println);
    BridgeHttp.Response me = bridge.get("/whoami");
    if (!me.ok()) {
      return ResponsePrinter.print(me);
    }
    System.out.println(
        "Logged in to " + bridge.base() + " as " + me.body().path("principal").asText());
    return 0;
  }
}
