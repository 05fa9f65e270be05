package dev.mcpbridge.http.console;

import dev.mcpbridge.http.reply.StaticFiles;
import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * GET /console: shows the bridge to humans. Its scripts use the same API as every client, with the
 * credential of the person who looks at it. Texts of servers cannot become scripts: the policy
 * allows the files of this page only, and Trusted Types for the one library that makes markup.
 */
public final class ConsolePage {
  private static final String OWN = "/dev/mcpbridge/http/console/";
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
          + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types lit-html";
  private static final Map<String, String> HEADERS =
      Map.of(
          "content-security-policy", POLICY,
          "referrer-policy", "no-referrer",
          "cross-origin-opener-policy", "same-origin",
          "cross-origin-resource-policy", "same-origin",
          "permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()");

  private static final List<String> MODULES =
      List.of(
          "api",
          "approval",
          "approvals",
          "audit",
          "chat",
          "cluster",
          "connect",
          "conversation",
          "diff",
          "difference",
          "draft",
          "form",
          "json",
          "live",
          "log",
          "login",
          "main",
          "pins",
          "responses",
          "result",
          "schema",
          "server",
          "servers",
          "store",
          "text",
          "try",
          "view");
  private static final List<String> LIBRARY =
      List.of(
          "lit-html",
          "directive",
          "directive-helpers",
          "directives/keyed",
          "directives/repeat",
          "directives/live");

  /** A comment that has its lines for itself. */
  private static final Pattern COMMENT =
      Pattern.compile("(?m)^[ \\t]*(?://.*|/\\*\\*(?:[^*]++|\\*(?!/))*+\\*/)[ \\t]*\\n");

  private ConsolePage() {}

  /** The scripts are sent without most of their comments, a sixth of their size. */
  static byte[] withoutComments(byte[] script) {
    return COMMENT
        .matcher(new String(script, StandardCharsets.UTF_8))
        .replaceAll("")
        .getBytes(StandardCharsets.UTF_8);
  }

  /** The handlers by path; they need no authentication. */
  public static Map<String, Handler<RoutingContext>> pages() {
    StaticFiles files =
        new StaticFiles(HEADERS)
            .add("/console", OWN + "console.html")
            .add("/console/console.css", OWN + "console.css");
    MODULES.forEach(
        name ->
            files.add(
                "/console/" + name + ".js", OWN + name + ".js", ConsolePage::withoutComments));
    String library = StaticFiles.webJar("lit-html");
    LIBRARY.forEach(name -> files.add("/console/lit/" + name + ".js", library + name + ".js"));
    return files.pages();
  }
}
