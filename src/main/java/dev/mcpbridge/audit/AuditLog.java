package dev.mcpbridge.audit;

import dev.mcpbridge.audit.AuditWriter.Entry;
import dev.mcpbridge.config.AuditConfig;
import dev.mcpbridge.model.AuditRecord;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Writes the audit trail on a thread of its own. Records are written as they come, and are on the
 * disk 20 ms later, or at once if a sender waits for it. Thread-safe.
 *
 * <p>While nothing can be written, the records wait and calls are refused, or the records are
 * dropped and counted, as configured. A record {@code gap} tells how many are missing.
 */
public final class AuditLog {
  private static final Logger LOG = System.getLogger(AuditLog.class.getName());
  private static final int MAX_WAITING = 65_536;
  private static final int MAX_BATCH = 4_096;

  /** Bounds of the records that wait, and of a batch, together with the arguments of calls. */
  private static final long MAX_WAITING_BYTES = 64L << 20;

  private static final long MAX_BATCH_BYTES = 4L << 20;
  private static final int RECORD_BYTES = 512;
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /**
   * Between two writes, so that many records share one. After 5 ms so many wait that they push the
   * event loop out of the cache of the processor (src/docs/adr/0021-audit-trail.md).
   */
  private static final long GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long CLOSE_MILLIS = 5_000;

  private final AuditConfig config;
  private final Path folder;
  private final AuditWriter writer;
  private final BlockingQueue<Entry> waiting = new LinkedBlockingQueue<>(MAX_WAITING);
  private final AtomicLong waitingBytes = new AtomicLong();

  /** Lost records of which the trail does not tell yet. */
  private final AtomicLong lost = new AtomicLong();

  private final LongAdder lostInAll = new LongAdder();
  private final Thread thread = new Thread(this::run, "mcp-audit");
  private volatile boolean isIdle;
  private volatile boolean isFailing;
  private volatile boolean isClosing;

  /**
   * @param folder where the trail is kept
   * @param node name of the node; null for a single node
   */
  public AuditLog(AuditConfig config, Path folder, String node) {
    this.config = config;
    this.folder = folder;
    this.writer = new AuditWriter(config, folder, node);
  }

  /**
   * Continues the trail of the folder, or begins one. Blocks.
   *
   * @throws IOException if it cannot be written, another bridge writes it, or its end is damaged
   */
  public void open() throws IOException {
    try {
      writer.open();
    } catch (IOException | RuntimeException e) {
      writer.close();
      throw e;
    }
    thread.setDaemon(true);
    thread.start();
  }

  /** Whether a call may run: whether its decision can be recorded, or need not be. */
  public boolean mayRun() {
    boolean hasRoom =
        waiting.remainingCapacity() > MAX_BATCH && waitingBytes.get() < MAX_WAITING_BYTES / 2;
    return !config.refusesOnFailure() || !isFailing && !isClosing && hasRoom && thread.isAlive();
  }

  AuditConfig config() {
    return config;
  }

  /** The last checkpoint that was written; null before the first. */
  Head head() {
    return writer.head();
  }

  public void append(AuditRecord record) {
    append(record, null);
  }

  /**
   * @param written told whether the record is on the disk, or is lost; on the thread of the log, or
   *     at once on that of the sender; null if no sender waits
   */
  public void append(AuditRecord record, Consumer<Boolean> written) {
    Entry entry = new Entry(record, written);
    long bytes = bytes(record);
    boolean hasRoom = waitingBytes.addAndGet(bytes) <= MAX_WAITING_BYTES;
    if (isClosing || !hasRoom || !waiting.offer(entry)) {
      waitingBytes.addAndGet(-bytes);
      lose(1);
      entry.tell(false);
    } else if (isIdle || written != null) {
      LockSupport.unpark(thread);
    }
  }

  private void lose(int records) {
    lost.addAndGet(records);
    lostInAll.add(records);
  }

  /** How many records are not written yet. */
  public long lag() {
    return waiting.size();
  }

  /** How many records were lost since the start. */
  public long lost() {
    return lostInAll.sum();
  }

  private static long bytes(AuditRecord record) {
    int arguments = record.arguments() == null ? 0 : record.arguments().length();
    return RECORD_BYTES + record.members().length() + arguments;
  }

  /** Writes what waits and a last checkpoint; waits for it for some seconds. */
  public void close() {
    isClosing = true;
    LockSupport.unpark(thread);
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // --- the thread

  private void run() {
    List<Entry> batch = new ArrayList<>();
    while (!isClosing || !waiting.isEmpty()) {
      try {
        take(batch);
        if (!batch.isEmpty()) {
          writeAll(batch);
          batch.clear();
        }
        maintain();
        pause();
      } catch (RuntimeException | Error e) {
        failed(e);
        drop(batch);
        batch.clear();
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
    finish();
  }

  private void take(List<Entry> batch) {
    long bytes = 0;
    while (batch.size() < MAX_BATCH && bytes < MAX_BATCH_BYTES) {
      Entry entry = waiting.poll();
      if (entry == null) {
        break;
      }
      batch.add(entry);
      bytes += bytes(entry.record());
    }
    waitingBytes.addAndGet(-bytes);
  }

  private void pause() {
    if (isFailing) {
      LockSupport.parkNanos(RETRY_NANOS);
    } else if (writer.isForced()) {
      isIdle = true;
      if (waiting.isEmpty() && !isClosing) {
        LockSupport.parkNanos(IDLE_NANOS);
      }
      isIdle = false;
    } else if (waiting.size() < MAX_BATCH) {
      LockSupport.parkNanos(GATHER_NANOS);
    }
  }

  /** Writes a batch; with {@code refuse} it is tried again until it works or the log is closed. */
  private void writeAll(List<Entry> batch) {
    boolean isDone = false;
    while (!isDone) {
      long missing = lost.get();
      try {
        writer.write(batch, missing);
        lost.addAndGet(-missing);
        isDone = true;
      } catch (IOException e) {
        failed(e);
        isDone = !config.refusesOnFailure() || isClosing;
        if (isDone) {
          drop(batch);
        } else {
          LockSupport.parkNanos(RETRY_NANOS);
        }
      }
    }
  }

  private void drop(List<Entry> batch) {
    lose(batch.size());
    batch.forEach(entry -> entry.tell(false));
  }

  /** Whatever fails here is tried again in the next round. */
  private void maintain() {
    try {
      if (writer.isDue() || isFailing) {
        writer.force();
      }
      long missing = lost.get();
      if (missing > 0) {
        writer.write(List.of(), missing);
        lost.addAndGet(-missing);
      }
      writer.maintain();
      recovered();
    } catch (IOException e) {
      failed(e);
      if (!config.refusesOnFailure()) {
        writer.release(false);
      }
    }
  }

  private void finish() {
    try {
      List<Entry> rest = new ArrayList<>();
      waiting.drainTo(rest);
      writeAll(rest);
      writer.finish();
    } catch (IOException | RuntimeException e) {
      failed(e);
    } finally {
      close(writer);
      writer.release(false);
    }
  }

  private static void close(AuditWriter writer) {
    try {
      writer.close();
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the audit trail is not closed: {0}", e.toString());
    }
  }

  private void failed(Throwable e) {
    if (!isFailing) {
      LOG.log(
          Level.ERROR,
          "the audit trail in {0} cannot be written, {1}: {2}",
          folder,
          config.refusesOnFailure() ? "calls are refused" : "records are lost",
          e.toString());
    }
    isFailing = true;
  }

  private void recovered() {
    if (isFailing) {
      LOG.log(Level.INFO, "the audit trail in {0} is written again", folder);
      isFailing = false;
    }
  }
}
