package dev.mcpbridge.validation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.limit.FairQueue;
import dev.mcpbridge.limit.Flow;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Validates values against the JSON Schemas of upstreams, and caches the compiled schemas.
 *
 * <p>A small value is validated on the calling thread for at most two milliseconds. Validations
 * that take longer, large values and compilations run on two worker threads through a fair queue,
 * at most one at a time for each caller. Confined to its verticle.
 */
public final class SchemaValidator {
  private static final Logger LOG = System.getLogger(SchemaValidator.class.getName());
  private static final int MAX_SCHEMAS = 20_000;
  private static final int MAX_PROBLEMS = 100_000;

  /** A compiled schema takes about thirty times the memory of its text. */
  private static final long MAX_TEXT = Math.max(1 << 20, Runtime.getRuntime().maxMemory() / 256);

  private static final int MAX_WAITING = 1_000;
  private static final int THREADS = 2;
  private static final int QUICK_VALIDATIONS = 8;
  private static final int SMALL_BYTES = 16 << 10;
  private static final WorkBudget.Size INLINE = new WorkBudget.Size(10_000, 2);

  private final WorkBudget.Size budget;
  private final FairQueue<Work<?>> waiting = new FairQueue<>(MAX_WAITING);
  private final Set<String> running = new HashSet<>();
  private final Map<String, CachedSchema> cache = new LinkedHashMap<>(64, 0.75f, true);

  /** Stored for more schemas than are cached in compiled form. */
  private final Map<String, Optional<String>> problems = new BoundedMap<>(MAX_PROBLEMS);

  private long textBytes;
  private final WorkerExecutor threads;

  /**
   * A schema of an upstream.
   *
   * @param key identifies the content of the schema
   * @param kind {@code inputSchema} or {@code outputSchema}
   */
  public record Subject(String key, String kind, String tool, String server, JsonSlice schema) {
    /** For the log. */
    private String name() {
      return kind + " of tool " + tool + " of " + server;
    }
  }

  private record Timed(Verdict verdict, long nanos) {}

  private record Work<T>(String caller, Callable<T> task, Promise<T> done) {}

  private static final class CachedSchema {
    final CompiledSchema schema;
    final int bytes;

    /** Values of this size exceeded the budget of the calling thread. */
    int heavyBytes = SMALL_BYTES;

    /** The number of consecutive quick validations since then. */
    private int quick;

    boolean isLogged;

    CachedSchema(CompiledSchema schema, int bytes) {
      this.schema = schema;
      this.bytes = bytes;
    }

    /** Raises the size again after quick validations: a pause of the machine may have caused it. */
    void recordDuration(long nanos, int valueBytes) {
      quick = nanos < TimeUnit.MILLISECONDS.toNanos(INLINE.millis()) / 2 ? quick + 1 : 0;
      if (quick >= QUICK_VALIDATIONS && valueBytes < SMALL_BYTES) {
        quick = 0;
        heavyBytes = Math.max(heavyBytes, valueBytes + 1);
      }
    }
  }

  /**
   * @param steps maximum of one validation; a machine does a few million a second
   * @param millis maximum duration of one validation
   */
  public SchemaValidator(Vertx vertx, long steps, long millis) {
    this.threads = vertx.createSharedWorkerExecutor("mcp-validation", THREADS);
    this.budget = new WorkBudget.Size(steps, millis);
  }

  /** Loads the classes of the validator ahead of the first call. Blocks. */
  public static Void warmUp() {
    JsonSlice schema =
        JsonSlice.of(
            """
            {"type":"object","properties":{"a":{"type":"string","pattern":"^a"}},"required":["a"]}
            """);
    CompiledSchema.of(schema).validate(Json.object().put("a", "a"), INLINE);
    return null;
  }

  /**
   * Validates a value.
   *
   * @param caller whose share of the worker threads it uses
   * @param bytes length of the value as text
   */
  public Future<Verdict> validate(String caller, Subject subject, JsonNode value, int bytes) {
    CachedSchema schema = cache.get(subject.key());
    return schema != null
        ? validate(caller, subject, schema, value, bytes)
        : compile(caller, subject)
            .compose(compiled -> validate(caller, subject, compiled, value, bytes))
            .otherwise(full -> new Verdict.Unchecked(full.getMessage(), true));
  }

  /** Completes when it is known whether a schema is usable. Compiles it in the fair queue. */
  public Future<?> compiled(String caller, Subject subject) {
    return problems.containsKey(subject.key())
        ? Future.succeededFuture()
        : compile(caller, subject);
  }

  /** The reason why a schema is unusable; null if it is usable or was not compiled yet. */
  public String problem(String key) {
    return problems.getOrDefault(key, Optional.empty()).orElse(null);
  }

  private Future<Verdict> validate(
      String caller, Subject subject, CachedSchema cachedSchema, JsonNode value, int bytes) {
    if (cachedSchema.schema.problem() != null) {
      return Future.succeededFuture(new Verdict.Unchecked(cachedSchema.schema.problem(), false));
    }
    if (bytes < cachedSchema.heavyBytes) {
      Verdict verdict = cachedSchema.schema.validate(value, INLINE);
      boolean isOverBudget =
          verdict instanceof Verdict.Unchecked unchecked && unchecked.overBudget();
      if (!isOverBudget) {
        logOnce(subject, cachedSchema, verdict);
        return Future.succeededFuture(verdict);
      }
      cachedSchema.heavyBytes = bytes;
    }
    return queued(caller, () -> timed(cachedSchema.schema, value))
        .map(
            done -> {
              cachedSchema.recordDuration(done.nanos(), bytes);
              return done.verdict();
            })
        .otherwise(full -> new Verdict.Unchecked(full.getMessage(), true))
        .onSuccess(verdict -> logOnce(subject, cachedSchema, verdict));
  }

  private Timed timed(CompiledSchema schema, JsonNode value) {
    long startNanos = System.nanoTime();
    Verdict verdict = schema.validate(value, budget);
    return new Timed(verdict, System.nanoTime() - startNanos);
  }

  private Future<CachedSchema> compile(String caller, Subject subject) {
    return queued(caller, () -> CompiledSchema.of(subject.schema()))
        .map(compiled -> store(subject, compiled));
  }

  private CachedSchema store(Subject subject, CompiledSchema compiled) {
    problems.put(subject.key(), Optional.ofNullable(compiled.problem()));
    CachedSchema cached = new CachedSchema(compiled, subject.schema().length());
    CachedSchema previous = cache.put(subject.key(), cached);
    textBytes += cached.bytes - (previous == null ? 0 : previous.bytes);
    while (cache.size() > MAX_SCHEMAS || textBytes > MAX_TEXT && cache.size() > 1) {
      textBytes -= cache.remove(cache.keySet().iterator().next()).bytes;
    }
    if (compiled.problem() != null) {
      LOG.log(Level.WARNING, "the {0} cannot be used: {1}", subject.name(), compiled.problem());
    }
    return cached;
  }

  private static void logOnce(Subject subject, CachedSchema cachedSchema, Verdict verdict) {
    if (verdict instanceof Verdict.Unchecked unchecked && !cachedSchema.isLogged) {
      cachedSchema.isLogged = true;
      LOG.log(
          Level.WARNING,
          "a value for the {0} was not checked: {1}",
          subject.name(),
          unchecked.reason());
    }
  }

  private <T> Future<T> queued(String caller, Callable<T> task) {
    Work<T> work = new Work<>(caller, task, Promise.promise());
    waiting
        .offer(Flow.of(caller), work)
        .ifPresent(
            refused -> refused.done().fail("too many validations of this caller are queued"));
    runNext();
    return work.done().future();
  }

  private void runNext() {
    Work<?> next =
        running.size() < THREADS ? waiting.poll(flow -> !running.contains(flow.caller())) : null;
    if (next != null) {
      running.add(next.caller());
      run(next)
          .onComplete(
              finished -> {
                running.remove(next.caller());
                runNext();
              });
    }
  }

  private <T> Future<T> run(Work<T> work) {
    try {
      return threads.executeBlocking(work.task(), false).onComplete(work.done());
    } catch (RejectedExecutionException e) {
      work.done().fail("the bridge is being stopped");
      return work.done().future();
    }
  }
}
