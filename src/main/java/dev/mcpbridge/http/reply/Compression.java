package dev.mcpbridge.http.reply;

import dev.mcpbridge.config.HttpConfig.Compressed;
import dev.mcpbridge.memory.MemoryBudget;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/**
 * Compresses responses with gzip, for clients that accept it (RFC 9110 section 12.5.3), if their
 * sender declares what they are. A body with a secret of the bridge is sent as it is, since its
 * compressed length would tell how much of the secret is like a text of the caller beside it (an
 * attack that is known as BREACH). Small bodies are sent as they are, too. Large ones are
 * compressed on a worker thread, a few at a time; what comes meanwhile is sent as it is. Confined
 * to the event loop.
 */
public final class Compression {
  private static final String KEY = Compression.class.getName();
  private static final Pattern REFUSED = Pattern.compile("\\s*q\\s*=\\s*0(\\.0*)?\\s*");
  private static final int MIN_BYTES = 1024;

  /** What is compressed on the event loop, in about 0.1 ms. */
  private static final int MAX_BYTES_ON_LOOP = 64 * 1024;

  private static final int MAX_AT_ONCE = 4;

  private final MemoryBudget memory;
  private volatile Compressed extent;
  private final WorkerExecutor workers;
  private int running;

  /**
   * @param extent what is compressed at most
   * @param memory counts what waits for a worker thread
   */
  public Compression(Vertx vertx, Compressed extent, MemoryBudget memory) {
    this.workers = vertx.createSharedWorkerExecutor("mcp-compression", MAX_AT_ONCE);
    this.extent = extent;
    this.memory = memory;
  }

  /** Changes what is compressed. Thread-safe. */
  public void reload(Compressed newExtent) {
    extent = newExtent;
  }

  /** Remembers for a request that its client accepts gzip. */
  public void negotiate(RoutingContext ctx) {
    String accepted = ctx.request().getHeader(HttpHeaders.ACCEPT_ENCODING);
    if (accepted != null && ctx.request().method() != HttpMethod.HEAD && accepts(accepted)) {
      ctx.put(KEY, this);
    }
  }

  /**
   * What compresses a response; null if it is sent as it is.
   *
   * @param content null if it may have a secret
   */
  static Compression of(RoutingContext ctx, Compressed content) {
    Compression compression = content == null ? null : ctx.get(KEY);
    return compression != null && content.compareTo(compression.extent) <= 0 ? compression : null;
  }

  /** Whether a header field accepts gzip; a weight of zero does not (RFC 9110 section 12.4.2). */
  static boolean accepts(String acceptEncoding) {
    boolean anyIsAccepted = false;
    for (String element : acceptEncoding.toLowerCase(Locale.ROOT).split(",")) {
      String[] parts = element.split(";", 2);
      String coding = parts[0].strip();
      boolean isRefused = parts.length > 1 && REFUSED.matcher(parts[1]).matches();
      if (coding.equals("gzip") || coding.equals("x-gzip")) {
        return !isRefused;
      }
      anyIsAccepted |= coding.equals("*") && !isRefused;
    }
    return anyIsAccepted;
  }

  static boolean isWorthwhile(Buffer content) {
    return content.length() >= MIN_BYTES;
  }

  /** Whether content takes too long for the event loop. */
  static boolean isLarge(Buffer content) {
    return content.length() > MAX_BYTES_ON_LOOP;
  }

  /** Compresses a whole body; null if there is too much to do already. */
  Future<Buffer> whole(Buffer body) {
    GzipEncoder encoder = new GzipEncoder();
    if (!isLarge(body)) {
      return Future.succeededFuture(encoder.part(body, true).appendBuffer(encoder.end()));
    }
    return running < MAX_AT_ONCE
        ? onWorker(body.length(), () -> encoder.part(body, true).appendBuffer(encoder.end()))
        : null;
  }

  /** Compresses on a worker thread; the bytes count as memory until then. */
  Future<Buffer> onWorker(int bytes, Callable<Buffer> work) {
    running++;
    memory.addUnread(bytes);
    return workers
        .executeBlocking(work, false)
        .andThen(
            done -> {
              running--;
              memory.removeUnread(bytes);
            });
  }
}
