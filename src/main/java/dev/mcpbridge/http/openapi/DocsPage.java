package dev.mcpbridge.http.openapi;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;

/**
 * GET /docs: a page that shows the documents with Swagger UI. The page and its scripts are static
 * and contain no secrets, so they need no key; the documents that they fetch do.
 */
public final class DocsPage {
  private static final String OWN = "/dev/mcpbridge/http/docs/";
  private static final String LIBRARY = "/META-INF/resources/webjars/swagger-ui/" + version();
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'"
          + " data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors"
          + " 'none'";
  private static final Map<String, String> TYPES =
      Map.of("html", "text/html; charset=utf-8", "js", "text/javascript", "css", "text/css");

  private DocsPage() {}

  /** The handlers by path; they need no authentication. */
  public static Map<String, Handler<RoutingContext>> pages() {
    return Map.of(
        "/docs", page(OWN + "docs.html"),
        "/docs/docs.js", page(OWN + "docs.js"),
        "/docs/docs.css", page(OWN + "docs.css"),
        "/docs/swagger-ui.css", page(LIBRARY + "swagger-ui.css"),
        "/docs/swagger-ui-bundle.js", page(LIBRARY + "swagger-ui-bundle.js"));
  }

  private static Handler<RoutingContext> page(String resource) {
    Buffer[] cached = new Buffer[1];
    String type = TYPES.get(resource.substring(resource.lastIndexOf('.') + 1));
    return ctx -> {
      cached[0] = cached[0] == null ? resource(resource) : cached[0];
      send(ctx, type, cached[0]);
    };
  }

  private static void send(RoutingContext ctx, String type, Buffer body) {
    ctx.response()
        .putHeader(HttpHeaders.CONTENT_TYPE, type)
        .putHeader("content-security-policy", POLICY)
        .putHeader("referrer-policy", "no-referrer")
        .end(body);
  }

  /** The path of files in a WebJar contains its version, which the build writes to a resource. */
  private static String version() {
    return resource(OWN + "swagger-ui.version").toString().strip() + "/";
  }

  private static Buffer resource(String name) {
    try (InputStream in = DocsPage.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("Resource missing from this build: " + name);
      }
      return Buffer.buffer(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
