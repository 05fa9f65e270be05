package dev.mcpbridge.http.openapi;

import dev.mcpbridge.http.reply.StaticFiles;
import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;

/**
 * GET /docs: a page that shows the documents with Swagger UI. The documents that its scripts fetch
 * need a key.
 */
public final class DocsPage {
  private static final String OWN = "/dev/mcpbridge/http/docs/";
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'"
          + " data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors"
          + " 'none'";

  private DocsPage() {}

  /** The handlers by path; they need no authentication. */
  public static Map<String, Handler<RoutingContext>> pages() {
    String library = StaticFiles.webJar("swagger-ui");
    return new StaticFiles(
            Map.of("content-security-policy", POLICY, "referrer-policy", "no-referrer"))
        .add("/docs", OWN + "docs.html")
        .add("/docs/docs.js", OWN + "docs.js")
        .add("/docs/docs.css", OWN + "docs.css")
        .add("/docs/swagger-ui.css", library + "swagger-ui.css")
        .add("/docs/swagger-ui-bundle.js", library + "swagger-ui-bundle.js")
        .pages();
  }
}
