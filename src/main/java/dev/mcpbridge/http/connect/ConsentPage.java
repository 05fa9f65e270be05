package dev.mcpbridge.http.connect;

import dev.mcpbridge.call.ConsentTicket;
import dev.mcpbridge.protocol.HiddenCharacters;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Pages for people, without scripts. Texts of others are escaped, and their invisible characters
 * shown. Stateless.
 */
public final class ConsentPage {
  private static final String STYLE = "/dev/mcpbridge/http/connect/page.css";
  private static final String FRAME =
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>MCP Bridge</title>
      <link rel="stylesheet" href="/oauth/page.css">
      </head>
      <body>
      <main>
      <h1>%s</h1>
      %s
      </main>
      </body>
      </html>
      """;

  private ConsentPage() {}

  /**
   * The form of a ticket.
   *
   * @param facts what the user should know before agreeing
   * @param source where the user gets the credential that it enters; null if it enters none
   * @param asksForKey whether the user proves who it is by an API key
   */
  static String form(
      String title,
      Map<String, String> facts,
      String formToken,
      URI source,
      boolean asksForKey,
      String problem) {
    StringBuilder body = new StringBuilder("<dl>\n");
    facts.forEach(
        (name, value) ->
            body.append("<dt>")
                .append(escaped(name))
                .append("</dt><dd>")
                .append(escaped(value))
                .append("</dd>\n"));
    body.append("</dl>\n");
    if (problem != null) {
      body.append("<p class=\"problem\" role=\"alert\">").append(escaped(problem)).append("</p>\n");
    }
    body.append("<form method=\"post\">\n<input type=\"hidden\" name=\"form\" value=\"")
        .append(escaped(formToken))
        .append("\">\n");
    if (source != null) {
      body.append("<p>Get your credential at <a target=\"_blank\" rel=\"noreferrer\" href=\"")
          .append(escaped(source.toString()))
          .append("\">")
          .append(escaped(source.getHost()))
          .append(
              "</a>, and enter it here. It is kept for you by this bridge, and sent to this server"
                  + " only.</p>\n<label for=\"credential\">Credential for the server</label>\n"
                  + "<input id=\"credential\" type=\"password\" name=\"credential\""
                  + " autocomplete=\"off\" required>\n");
    }
    if (asksForKey) {
      body.append(
          "<label for=\"key\">Your API key of this bridge</label>\n"
              + "<input id=\"key\" type=\"password\" name=\"key\" autocomplete=\"off\" required>\n");
    }
    body.append("<button type=\"submit\">Continue</button>\n</form>");
    return FRAME.formatted(escaped(title), body);
  }

  static String message(String title, String text) {
    return FRAME.formatted(escaped(title), "<p>" + escaped(text) + "</p>");
  }

  /**
   * What the user is told about the server.
   *
   * @param url null if it is unknown
   */
  static Map<String, String> facts(ConsentTicket ticket, URI url) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("Server", ticket.server().name());
    facts.put("At", url == null ? "unknown" : url.getHost());
    facts.put("Asks for", ticket.scope());
    facts.put("For", ticket.principal());
    String client = ticket.clientName();
    facts.put("Used by", "".equals(client) ? "a client that its token does not name" : client);
    facts.values().removeIf(Objects::isNull);
    return facts;
  }

  /**
   * Sends a page that only this site may send a form from, and that no other may frame.
   *
   * @param targets where its form may lead, besides the bridge
   */
  static void send(RoutingContext ctx, int status, String html, String targets) {
    headers().forEach(ctx.response()::putHeader);
    ctx.response()
        .putHeader(
            "content-security-policy",
            "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none';"
                + " form-action 'self' "
                + targets)
        .putHeader("content-type", "text/html; charset=utf-8")
        .setStatusCode(status)
        .end(html);
  }

  /** GET /oauth/page.css. */
  public static void style(RoutingContext ctx) {
    try (InputStream in = ConsentPage.class.getResourceAsStream(STYLE)) {
      ctx.response().putHeader("content-type", "text/css").end(Buffer.buffer(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** No cache, other site or frame learns the secret in the address. */
  static Map<String, String> headers() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("cache-control", "no-store");
    headers.put("referrer-policy", "same-origin");
    headers.put("x-frame-options", "DENY");
    return headers;
  }

  private static String escaped(String text) {
    StringBuilder out = new StringBuilder();
    HiddenCharacters.escaped(text)
        .chars()
        .forEach(
            c -> {
              switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> out.append((char) c);
              }
            });
    return out.toString();
  }
}
