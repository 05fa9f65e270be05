package dev.mcpbridge.adapter.grpc;

import dev.mcpbridge.adapter.Backend;
import dev.mcpbridge.adapter.Omissions;
import dev.mcpbridge.config.GrpcSource;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.transport.HttpSender;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Offers the methods of a gRPC server as tools. Its descriptors are read again periodically, and
 * when the server no longer has a method; if they cannot be used, the tools stay unchanged.
 */
public final class GrpcBackend implements Backend {
  private static final Logger LOG = System.getLogger(GrpcBackend.class.getName());
  private static final String HEALTH = "/grpc.health.v1.Health/Check";
  private static final long PROBE_MILLIS = 5_000;

  /** Between a failure and the reading that it causes. */
  private static final long REFRESH_DELAY_MILLIS = 10_000;

  /** The status of a {@code HealthCheckResponse}. */
  private static final long SERVING = 1;

  /** Descriptors that are read at the same time, of all servers: they take much memory. */
  private static final int READERS = 2;

  private final Vertx vertx;
  private final String name;
  private final GrpcSource source;
  private final GrpcChannel channel;
  private final Map<String, String> headers = new HashMap<>();
  private final GrpcCall.Limits limits;
  private final WorkerExecutor readers;
  private GrpcApi api;
  private Listener listener;
  private long timer = -1;
  private boolean isReading;
  private boolean isAwaitingRefresh;
  private boolean isClosed;

  public GrpcBackend(
      Vertx vertx, String name, GrpcSource source, HttpSender sender, int maxMessage) {
    this.vertx = vertx;
    this.name = name;
    this.source = source;
    this.readers = vertx.createSharedWorkerExecutor("mcp-grpc-descriptors", READERS);
    this.channel = new GrpcChannel(vertx, sender, source.url(), maxMessage);
    this.limits = new GrpcCall.Limits(source.streams().maxMessages(), maxMessage);
    source.access().headers().forEach((header, value) -> headers.put(header, value.reveal()));
  }

  @Override
  public Future<Identity> open(Listener backendListener) {
    listener = backendListener;
    return read()
        .compose(read -> probe().map(read))
        .map(
            read -> {
              api = read;
              LOG.log(
                  Level.INFO,
                  "server={0} tools={1} omitted={2}",
                  name,
                  read.methods().size(),
                  read.omitted().size());
              scheduleRefresh();
              return new Identity(name, "0", null);
            });
  }

  /** By reflection or from the file; the conversion has its own threads and time. */
  private Future<GrpcApi> read() {
    if (source.descriptorSet() == null) {
      return new Reflection(channel, headers, readers)
          .read(service -> source.mayOffer(service) && !GrpcApi.isOfGrpc(service))
          .compose(
              read ->
                  inBackground(
                      () -> GrpcApi.of(source, read.services(), read.files(), read.undescribed())));
    }
    return vertx
        .fileSystem()
        .readFile(source.descriptorSet().toString())
        .compose(bytes -> inBackground(() -> fromSet(bytes.getBytes())));
  }

  private GrpcApi fromSet(byte[] bytes) {
    if (bytes.length > Reflection.MAX_BYTES) {
      throw new BridgeException(
          ErrorCode.START_FAILED, "The descriptor set exceeds " + Reflection.MAX_BYTES + " bytes");
    }
    return GrpcApi.of(source, null, LinkedFiles.read(bytes), Map.of());
  }

  private <T> Future<T> inBackground(Callable<T> work) {
    return listener.withoutTimeout(() -> readers.executeBlocking(work, false));
  }

  private void scheduleRefresh() {
    long millis = source.refreshMillis();
    long jitter = ThreadLocalRandom.current().nextLong(millis / 10 + 1);
    if (!isClosed) {
      timer = vertx.setTimer(millis + jitter, t -> refresh().onComplete(v -> scheduleRefresh()));
    }
  }

  /** Reads the descriptors again, unless that is going on. */
  private Future<Void> refresh() {
    if (isReading || isClosed) {
      return Future.succeededFuture();
    }
    isReading = true;
    return read()
        .onComplete(done -> isReading = false)
        .onSuccess(this::apply)
        .onFailure(
            failure ->
                LOG.log(
                    Level.WARNING,
                    "server={0} refresh of the descriptors failed, the previous ones stay in use:"
                        + " {1}",
                    name,
                    failure.getMessage()))
        .transform(done -> Future.succeededFuture());
  }

  /** Takes the new descriptors even if no tool looks different: fields may have moved. */
  private void apply(GrpcApi read) {
    boolean isChanged = !read.definitions().equals(api.definitions());
    api = read;
    if (isChanged && !isClosed) {
      listener.changed();
    }
  }

  @Override
  public List<JsonSlice> tools() {
    return api.definitions();
  }

  @Override
  public JsonSlice omitted() {
    return Omissions.of(api.omitted());
  }

  @Override
  public RunningCall call(Invocation invocation) {
    GrpcMethod method = api.methods().get(invocation.tool());
    if (method == null) {
      return RunningCall.of(
          Future.failedFuture(new BridgeException(ErrorCode.TOOL_NOT_FOUND, "Unknown tool")));
    }
    Map<String, String> all = new HashMap<>(headers);
    all.putAll(invocation.traceContext());
    if (invocation.authorization() != null) {
      all.keySet().removeIf(header -> header.equalsIgnoreCase("authorization"));
      all.put("authorization", invocation.authorization());
    }
    GrpcCall call = new GrpcCall(vertx, api, method, invocation, limits);
    Future<JsonSlice> result =
        call.run(channel, all)
            .onFailure(
                failure -> {
                  boolean isLost = BridgeException.of(failure).code() == ErrorCode.UPSTREAM_CRASHED;
                  if (isLost || call.isUnimplemented()) {
                    refreshSoon();
                  }
                });
    return new RunningCall(result, call::cancel);
  }

  /** The server may have been replaced by another version of it. */
  private void refreshSoon() {
    if (!isAwaitingRefresh) {
      isAwaitingRefresh = true;
      vertx.setTimer(
          REFRESH_DELAY_MILLIS,
          t -> {
            isAwaitingRefresh = false;
            refresh();
          });
    }
  }

  /**
   * Asks for its health (GRPC health checking protocol). A server that answers otherwise, since it
   * has no health service or guards it, is reachable all the same.
   */
  @Override
  public Future<Void> probe() {
    long[] health = {SERVING};
    return channel
        .ask(
            GrpcChannel.Request.of(HEALTH, new byte[0], headers, PROBE_MILLIS),
            answer -> {
              health[0] = WireFields.number(answer, 1);
              return true;
            })
        .compose(
            status -> {
              boolean isDown =
                  status.isDerived()
                      || status.code() == GrpcStatus.UNAVAILABLE
                      || status.code() == GrpcStatus.DEADLINE_EXCEEDED;
              if (status.isOk() && health[0] != SERVING) {
                return notServing("reports that it does not serve");
              }
              return isDown
                  ? notServing("answered " + status.name() + ": " + status.message())
                  : Future.succeededFuture();
            });
  }

  private static Future<Void> notServing(String what) {
    return Future.failedFuture(
        new BridgeException(ErrorCode.SERVER_UNAVAILABLE, "The gRPC server " + what));
  }

  @Override
  public Future<Void> close() {
    isClosed = true;
    vertx.cancelTimer(timer);
    return Future.join(channel.close(), readers.close())
        .transform(done -> Future.succeededFuture());
  }
}
