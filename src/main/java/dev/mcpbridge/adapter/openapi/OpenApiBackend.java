package dev.mcpbridge.adapter.openapi;

import dev.mcpbridge.adapter.Backend;
import dev.mcpbridge.adapter.DocumentFetcher;
import dev.mcpbridge.adapter.HttpCaller;
import dev.mcpbridge.adapter.Omissions;
import dev.mcpbridge.adapter.PolledDocument;
import dev.mcpbridge.config.OpenApiSource;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.transport.HttpOrigin;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.util.List;

/**
 * Offers the operations of an HTTP API as tools. Its document is polled; if a new version cannot be
 * used, the tools stay unchanged.
 */
public final class OpenApiBackend implements Backend {
  private static final Logger LOG = System.getLogger(OpenApiBackend.class.getName());
  private static final int MAX_REDIRECTS = 5;
  private static final int CONNECT_MILLIS = 3_000;

  /** Documents parsed concurrently for all servers: a large document takes much memory. */
  private static final int READERS = 2;

  private final Vertx vertx;
  private final String name;
  private final OpenApiSource source;
  private final int maxBody;
  private final HttpCaller http;
  private final PolledDocument<Api> document;
  private final Credentials credentials;
  private final LargeBodyStore largeBodies = new LargeBodyStore();
  private final ResultMapper resultMapper;
  private final NetClient prober;
  private final WorkerExecutor readers;
  private Listener listener;

  public OpenApiBackend(
      Vertx vertx, String name, OpenApiSource source, HttpCaller http, int maxBody) {
    this.vertx = vertx;
    this.name = name;
    this.source = source;
    this.maxBody = maxBody;
    this.http = http;
    this.document =
        new PolledDocument<>(
            vertx,
            name,
            new DocumentFetcher(vertx, http, source.document(), source.access()),
            this::parse);
    this.credentials = new Credentials(http, source.credentials());
    this.resultMapper = new ResultMapper(source.largeBodyBytes(), largeBodies);
    this.prober = vertx.createNetClient(new NetClientOptions().setConnectTimeout(CONNECT_MILLIS));
    this.readers = vertx.createSharedWorkerExecutor("mcp-openapi-documents", READERS);
  }

  @Override
  public Future<Identity> open(Listener backendListener) {
    listener = backendListener;
    return document
        .open()
        .map(
            api -> {
              document.watch(source.refreshMillis(), listener::changed);
              return new Identity(api.title(), api.version(), api.description());
            });
  }

  private Future<Api> parse(byte[] text) {
    return listener
        .withoutTimeout(() -> readers.executeBlocking(() -> ApiReader.read(source, text), false))
        .onSuccess(this::report);
  }

  private void report(Api api) {
    LOG.log(
        Level.INFO,
        "server={0} tools={1} omitted={2} reduced={3}{4}",
        name,
        api.tools().size(),
        api.omitted().size(),
        api.reductions().size(),
        api.reductions().isEmpty() ? "" : " first=" + api.reductions().get(0));
  }

  @Override
  public List<JsonSlice> tools() {
    return document.current().tools().values().stream()
        .map(Api.OfferedOperation::definition)
        .toList();
  }

  @Override
  public JsonSlice omitted() {
    return Omissions.of(document.current().omitted());
  }

  @Override
  public RunningCall call(Invocation invocation) {
    Api.OfferedOperation offered = document.current().tools().get(invocation.tool());
    if (offered == null) {
      return RunningCall.of(
          Future.failedFuture(new BridgeException(ErrorCode.TOOL_NOT_FOUND, "Unknown tool")));
    }
    try {
      ApiRequest request = new ApiRequest(offered.operation(), invocation.arguments());
      invocation.traceContext().forEach(request::headerIfAbsent);
      return run(request, invocation.authorization(), offered.hasOutputSchema());
    } catch (BridgeException invalid) {
      return RunningCall.of(Future.failedFuture(invalid));
    }
  }

  private RunningCall run(ApiRequest request, String authorization, boolean hasOutputSchema) {
    HttpCaller.Exchange[] current = new HttpCaller.Exchange[1];
    boolean[] cancelled = new boolean[1];
    source.access().headers().forEach((header, value) -> request.header(header, value.reveal()));
    Future<JsonSlice> result =
        credentials
            .addTo(request, authorization)
            .compose(
                added -> {
                  if (cancelled[0]) {
                    return Future.failedFuture(
                        new BridgeException(ErrorCode.CANCELLED, "cancelled"));
                  }
                  return exchange(request, request.url(), current, 0);
                })
            .map(response -> result(response, authorization != null, hasOutputSchema));
    return new RunningCall(
        result,
        () -> {
          cancelled[0] = true;
          if (current[0] != null) {
            current[0].cancel();
          }
        });
  }

  /** Follows redirects of safe requests within the same origin. */
  private Future<HttpCaller.Response> exchange(
      ApiRequest request, URI url, HttpCaller.Exchange[] current, int redirects) {
    current[0] = http.send(request.method(), url, maxBody, request::send);
    return current[0]
        .response()
        .compose(
            response -> {
              String location = response.header("location");
              boolean isSafe =
                  request.method() == HttpMethod.GET || request.method() == HttpMethod.HEAD;
              if (response.status() / 100 != 3
                  || location == null
                  || !isSafe
                  || redirects >= MAX_REDIRECTS) {
                return Future.succeededFuture(response);
              }
              URI next = resolved(url, location);
              return next != null && ServerUrls.isSameOrigin(url, next)
                  ? exchange(request, next, current, redirects + 1)
                  : Future.succeededFuture(response);
            });
  }

  private static URI resolved(URI url, String location) {
    try {
      URI next = url.resolve(location);
      return next.getHost() == null ? null : next;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * @param isOfCaller whether the caller's own credential was sent
   */
  private JsonSlice result(
      HttpCaller.Response response, boolean isOfCaller, boolean hasOutputSchema) {
    if (response.status() == 401) {
      credentials.invalidateTokens();
    }
    boolean isUsersMatter = source.oauth() == null && source.authUrl() != null;
    if (isUsersMatter && (response.status() == 401 || response.status() == 403 && !isOfCaller)) {
      throw new BridgeException(
          ErrorCode.CONSENT_REQUIRED, "Server '" + name + "' requires its user's own credential");
    }
    if (source.oauth() != null && isRefused(response)) {
      throw new BridgeException(
              ErrorCode.CONSENT_REQUIRED,
              "The API of server '" + name + "' refuses the caller's credential")
          .with("status", response.status())
          .with("challenge", String.valueOf(response.header("www-authenticate")));
    }
    return resultMapper.of(response, hasOutputSchema);
  }

  /** RFC 6750 section 3.1. */
  private static boolean isRefused(HttpCaller.Response response) {
    String challenge = response.header("www-authenticate");
    return response.status() == 401
        || response.status() == 403
            && challenge != null
            && challenge.contains("insufficient_scope");
  }

  @Override
  public Future<JsonSlice> read(String uri) {
    try {
      return Future.succeededFuture(largeBodies.read(uri));
    } catch (BridgeException missing) {
      return Future.failedFuture(missing);
    }
  }

  /** Only opens a connection: any request to an API may have a cost. */
  @Override
  public Future<Void> probe() {
    URI base = document.current().base();
    return prober
        .connect(HttpOrigin.of(base).port(), base.getHost())
        .compose(socket -> socket.close())
        .recover(failure -> Future.failedFuture(unreachable(base, failure)));
  }

  private static BridgeException unreachable(URI base, Throwable failure) {
    HttpOrigin origin = HttpOrigin.of(base);
    return new BridgeException(
        ErrorCode.SERVER_UNAVAILABLE,
        origin.host() + ":" + origin.port() + " cannot be reached: " + failure.getMessage());
  }

  @Override
  public Future<Void> close() {
    document.close();
    return Future.join(http.close(), prober.close(), readers.close())
        .transform(done -> Future.succeededFuture());
  }
}
