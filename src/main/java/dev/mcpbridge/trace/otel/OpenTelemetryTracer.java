package dev.mcpbridge.trace.otel;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.mcpbridge.config.TelemetryConfig;
import dev.mcpbridge.error.BridgeException;
import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.protocol.Envelope;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.MetaKeys;
import dev.mcpbridge.trace.Span;
import dev.mcpbridge.trace.Tracer;
import io.github.bucket4j.TimeMeter;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.resources.Resource;
import io.vertx.core.Future;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Spans of the OpenTelemetry SDK, which batches them, sends them to the collector and reads the
 * standard variables; those take precedence over the configuration. A caller's request to record
 * counts only up to a rate.
 */
public final class OpenTelemetryTracer implements Tracer {
  private static final W3CTraceContextPropagator PROPAGATOR =
      W3CTraceContextPropagator.getInstance();
  private static final byte[] TRACEPARENT =
      MetaKeys.TRACEPARENT.getBytes(StandardCharsets.US_ASCII);
  private static final TextMapGetter<UnaryOperator<String>> FIELDS =
      (field, name) -> field.apply(name);
  private static final long EARLIER_NANOS = 50_000;
  private static final long CLOSE_SECONDS = 2;
  private static final String INSTANCE = "service.instance.id";
  private static final String MAX_VALUE_LENGTH = "1024";

  private final OpenTelemetrySdk sdk;
  private final DroppedSpans dropped;

  /** Decided before anything is made for a request. */
  private final double sample;

  private final io.opentelemetry.api.trace.Tracer tracer;

  private OpenTelemetryTracer(
      OpenTelemetrySdk sdk, DroppedSpans dropped, double sample, String version) {
    this.sample = sample;
    this.sdk = sdk;
    this.dropped = dropped;
    this.tracer = sdk.getTracerProvider().get("dev.mcpbridge", version);
  }

  /**
   * Starts the SDK. Fails with START_FAILED for a setting that it does not understand.
   *
   * @param program its name for the collector
   * @param node name of this node; null for none
   */
  public static Tracer open(TelemetryConfig config, String program, String version, String node) {
    DroppedSpans dropped = new DroppedSpans();
    try {
      OpenTelemetrySdk sdk = sdk(config, program, resource(version), node, dropped);
      return new OpenTelemetryTracer(sdk, dropped, config.sample(), version);
    } catch (ConfigurationException | IllegalArgumentException e) {
      throw new BridgeException(ErrorCode.START_FAILED, "Traces: " + e.getMessage());
    }
  }

  private static OpenTelemetrySdk sdk(
      TelemetryConfig config, String program, Resource process, String node, DroppedSpans dropped) {
    return AutoConfiguredOpenTelemetrySdk.builder()
        .disableShutdownHook()
        .addPropertiesSupplier(() -> properties(config, program))
        .addResourceCustomizer(
            (resource, all) -> process.merge(resource).merge(instance(node, all)))
        .addSamplerCustomizer(
            (sampler, all) ->
                new LimitedSampler(
                    sampler, config.maxSampledPerSecond(), TimeMeter.SYSTEM_NANOTIME))
        .addMeterProviderCustomizer((meters, all) -> meters.registerMetricReader(dropped))
        .build()
        .getOpenTelemetrySdk();
  }

  /** What the variables of the environment override. */
  private static Map<String, String> properties(TelemetryConfig config, String program) {
    Map<String, String> properties = new HashMap<>();
    properties.put("otel.service.name", program);
    properties.put("otel.metrics.exporter", "none");
    properties.put("otel.logs.exporter", "none");
    properties.put("otel.exporter.otlp.protocol", "http/protobuf");
    properties.put("otel.traces.sampler", "parentbased_always_on");
    properties.put("otel.attribute.value.length.limit", MAX_VALUE_LENGTH);
    if (config.endpoint() != null) {
      properties.put("otel.exporter.otlp.endpoint", config.endpoint());
    }
    if (!config.headers().isEmpty()) {
      properties.put(
          "otel.exporter.otlp.headers",
          config.headers().entrySet().stream()
              .map(header -> header.getKey() + "=" + encoded(header.getValue().reveal()))
              .collect(Collectors.joining(",")));
    }
    return properties;
  }

  private static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static Resource resource(String version) {
    Attributes attributes =
        Attributes.builder()
            .put("service.version", version)
            .put("process.pid", ProcessHandle.current().pid())
            .put("process.runtime.name", System.getProperty("java.runtime.name"))
            .put("process.runtime.version", System.getProperty("java.runtime.version"))
            .put("os.type", System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT))
            .build();
    return Resource.create(attributes);
  }

  /** The node is the instance, unless the environment names another. */
  private static Resource instance(String node, ConfigProperties environment) {
    boolean isNamed = environment.getMap("otel.resource.attributes").containsKey(INSTANCE);
    return node == null || isNamed
        ? Resource.empty()
        : Resource.create(Attributes.builder().put(INSTANCE, node).build());
  }

  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public Span receive(String name, UnaryOperator<String> field, Span outer, String caller) {
    boolean isSent = field.apply(MetaKeys.TRACEPARENT) != null;
    if (!isSent && outer == Span.NONE && !isChosen()) {
      return Span.NONE;
    }
    Context received = PROPAGATOR.extract(Context.root(), field, FIELDS);
    SpanContext remote = io.opentelemetry.api.trace.Span.fromContext(received).getSpanContext();
    boolean isInvalid = isSent && !remote.isValid();
    if (isInvalid && outer == Span.NONE && !isChosen()) {
      return Span.NONE;
    }
    SpanContext carrier = outer instanceof OpenTelemetrySpan span ? span.context() : null;
    boolean isSame = outer instanceof OpenTelemetrySpan span && span.isChildOf(remote);
    SpanBuilder builder = tracer.spanBuilder(name).setSpanKind(SpanKind.SERVER);
    if (remote.isValid() && !isSame) {
      builder.setParent(LimitedSampler.requestedBy(caller, received));
      if (carrier != null) {
        builder.addLink(carrier);
      }
    } else if (carrier != null) {
      builder.setParent(parent(carrier));
    } else {
      builder.setNoParent();
    }
    io.opentelemetry.api.trace.Span begun = builder.startSpan();
    if (begun.isRecording()) {
      return new OpenTelemetrySpan(begun, remote);
    }
    if (remote.isValid() && !isSame) {
      return new OpenTelemetrySpan(unrecorded(remote), remote);
    }
    return outer;
  }

  /** Whether a request without a valid context is one of those that are recorded. */
  private boolean isChosen() {
    return sample >= 1 || ThreadLocalRandom.current().nextDouble() < sample;
  }

  /** Has the ids of the caller's span, since this one does not exist for the collector. */
  private static io.opentelemetry.api.trace.Span unrecorded(SpanContext remote) {
    return io.opentelemetry.api.trace.Span.wrap(
        SpanContext.create(
            remote.getTraceId(),
            remote.getSpanId(),
            TraceFlags.getDefault(),
            remote.getTraceState()));
  }

  private static Context parent(SpanContext context) {
    return Context.root().with(io.opentelemetry.api.trace.Span.wrap(context));
  }

  @Override
  public Span root(String name) {
    io.opentelemetry.api.trace.Span begun = tracer.spanBuilder(name).setNoParent().startSpan();
    return begun.isRecording() ? new OpenTelemetrySpan(begun, SpanContext.getInvalid()) : Span.NONE;
  }

  @Override
  public Span begin(Span.Kind kind, String name, Envelope envelope, long sinceNanos) {
    SpanContext parent = context(envelope);
    if (!parent.isSampled()) {
      return Span.NONE;
    }
    long agoNanos = System.nanoTime() - sinceNanos;
    SpanBuilder builder =
        tracer
            .spanBuilder(name)
            .setParent(parent(parent))
            .setSpanKind(
                switch (kind) {
                  case INTERNAL -> SpanKind.INTERNAL;
                  case SERVER -> SpanKind.SERVER;
                  case CLIENT -> SpanKind.CLIENT;
                });
    if (agoNanos > EARLIER_NANOS) {
      builder.setStartTimestamp(Instant.now().minusNanos(agoNanos));
    }
    return new OpenTelemetrySpan(builder.startSpan(), parent);
  }

  /** Not as that of a caller, whose flag counts only up to a rate. */
  private static SpanContext context(Envelope envelope) {
    if (envelope.meta().length() <= 2 || !envelope.meta().mentions(TRACEPARENT)) {
      return SpanContext.getInvalid();
    }
    Map<String, JsonSlice> members = JsonObjects.members(envelope.meta());
    UnaryOperator<String> field = name -> JsonObjects.string(members.get(name));
    SpanContext sent =
        io.opentelemetry.api.trace.Span.fromContext(
                PROPAGATOR.extract(Context.root(), field, FIELDS))
            .getSpanContext();
    return SpanContext.create(
        sent.getTraceId(), sent.getSpanId(), sent.getTraceFlags(), sent.getTraceState());
  }

  @Override
  public long dropped() {
    return dropped.count();
  }

  @Override
  public Future<Void> close() {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    sdk.shutdown().whenComplete(() -> closed.complete(null));
    return Future.fromCompletionStage(closed.completeOnTimeout(null, CLOSE_SECONDS, SECONDS));
  }
}
