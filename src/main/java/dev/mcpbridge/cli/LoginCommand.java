package dev.mcpbridge.cli;

import dev.mcpbridge.agent.BridgeHttp;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.cli.login.Logins;
import dev.mcpbridge.protocol.HiddenCharacters;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
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
      "The login is in $XDG_STATE_HOME/mcp-bridge/logins.json. For the same URL it is",
      "used by tools, call, confirm, access, agent and stdio, unless MCP_BRIDGE_KEY",
      "is set. mcp-bridge logout ends it."
    })
final class LoginCommand implements Callable<Integer> {
  @Mixin private BridgeClient bridge;

  @Option(
      names = "--device",
      description = "Log in with a browser on another machine, by a code (RFC 8628).")
  private boolean device;

  @Option(
      names = "--issuer",
      paramLabel = "URL",
      defaultValue = "${env:MCP_BRIDGE_ISSUER:-}",
      description =
          "The issuer that the bridge has to name (default:%nMCP_BRIDGE_ISSUER, else any). Required"
              + " beside%nthe secret of a client.")
  private String issuer;

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
            issuer, clientId, System.getenv("MCP_BRIDGE_CLIENT_SECRET"), List.copyOf(scopes), port);
    Logins logins = Logins.ofUser();
    logins.begin(bridge.base(), request, device, System.err::println);
    Supplier<String> token = () -> logins.token(bridge.base()).orElse(null);
    BridgeHttp.Response me =
        new BridgeHttp(() -> new BridgeTools.BridgeAddress(URI.create(bridge.base()), token))
            .exchange("GET", "/whoami", null);
    if (!me.ok()) {
      return ResponsePrinter.print(me);
    }
    System.out.println(
        HiddenCharacters.escaped(
            "Logged in to " + bridge.base() + " as " + me.body().path("principal").asText()));
    if (BridgeClient.key() != null) {
      System.err.println("MCP_BRIDGE_KEY is set, so commands use that key and not this login");
    }
    return 0;
  }
}
