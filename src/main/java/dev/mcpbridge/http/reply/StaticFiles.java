package dev.mcpbridge.http.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.protocol.Sha256;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The files of a page, from the class path. They contain no secrets and need no credential. Each is
 * read at its first request, and sent again only if the client has another version (RFC 9110
 * section 13.1.2). Confined to the HTTP verticle.
 */
public final class StaticFiles {
  private static final Map<String, String> TYPES =
      Map.of("html", "text/html; charset=utf-8", "js", "text/javascript", "css", "text/css");

  private final Map<String, Handler<RoutingContext>> pages = new TreeMap<>();
  private final Map<String, String> headers;

  private record Content(Buffer body, String digest) {
    static Content of(byte[] bytes) {
      return new Content(Buffer.buffer(bytes), new Sha256().add(bytes).hex());
    }
  }

  /**
   * @param headers of every response, such as the content security policy
   */
  public StaticFiles(Map<String, String> headers) {
    this.headers = headers;
  }

  /**
   * @param path of the request
   * @param resource absolute name on the class path
   */
  public StaticFiles add(String path, String resource) {
    return add(path, resource, UnaryOperator.identity());
  }

  /**
   * @param served makes what is sent of the bytes of the resource
   */
  public StaticFiles add(String path, String resource, UnaryOperator<byte[]> served) {
    Content[] content = new Content[1];
    String type = TYPES.get(resource.substring(resource.lastIndexOf('.') + 1));
    pages.put(
        path,
        ctx -> {
          content[0] = content[0] == null ? Content.of(served.apply(read(resource))) : content[0];
          send(ctx, type, content[0]);
        });
    return this;
  }

  /** The handlers by path. */
  public Map<String, Handler<RoutingContext>> pages() {
    return Map.copyOf(pages);
  }

  private void send(RoutingContext ctx, String type, Content content) {
    ctx.response()
        .putHeader(HttpHeaders.CONTENT_TYPE, type)
        .putHeader(HttpHeaders.CACHE_CONTROL, "no-cache");
    headers.forEach(ctx.response()::putHeader);
    if (Replies.isKnown(ctx, content.digest)) {
      ctx.response().setStatusCode(304).end();
    } else {
      ResponseBody.send(ctx, content.body, Compressed.LISTS);
    }
  }

  /**
   * The folder of a WebJar's files. Its path contains the version, which the build writes to a
   * resource.
   */
  public static String webJar(String name) {
    String version =
        new String(read("/dev/mcpbridge/http/" + name + ".version"), StandardCharsets.UTF_8)
            .strip();
    return "/META-INF/resources/webjars/" + name + "/" + version + "/";
  }

  private static byte[] read(String resource) {
    try (InputStream in = StaticFiles.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("Resource missing from this build: " + resource);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
