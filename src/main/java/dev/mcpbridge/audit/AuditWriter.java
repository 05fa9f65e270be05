package dev.mcpbridge.audit;

import dev.mcpbridge.config.AuditConfig;
import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.protocol.JsonWriter;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Writes records into the files of a trail, with checkpoints, and deletes expired files. After a
 * failure the trail is as before, and the same can be tried again. Confined to one thread; every
 * method blocks.
 */
final class AuditWriter {
  private static final Logger LOG = System.getLogger(AuditWriter.class.getName());
  private static final long FORCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long CHECKPOINT_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int CHECKPOINT_RECORDS = 10_000;

  /** The lines of a batch are longer only if the disk is slow, or lists are. */
  private static final int MAX_KEPT_BYTES = 128 << 10;

  private final AuditConfig config;
  private final Path folder;
  private final String node;
  private final Segments segments;
  private final List<Entry> unforced = new ArrayList<>();
  private final JsonWriter lines = new JsonWriter(MAX_KEPT_BYTES);
  private AuditKey key;
  private ArgumentsRule argumentsRule;
  private Chain chain;

  /** The first record of a file, while it is not written. */
  private AuditRecord header;

  private volatile Head head;

  /** A checkpoint that is written, but not kept beside the files yet; null without one. */
  private Head unsavedHead;

  /** Expired files whose deletion is recorded. */
  private final Set<Path> recorded = new HashSet<>();

  private long checkpointSeq;
  private long checkpointNanos = System.nanoTime();
  private long forcedNanos = System.nanoTime();
  private boolean isForced = true;

  /**
   * @param written told whether the record is on the disk; null if no sender waits
   */
  record Entry(AuditRecord record, Consumer<Boolean> written) {
    boolean isAwaited() {
      return written != null;
    }

    /** A sender that fails, since its event loop has ended, is no failure of the trail. */
    void tell(boolean isWritten) {
      try {
        if (isAwaited()) {
          written.accept(isWritten);
        }
      } catch (RuntimeException e) {
        LOG.log(Level.WARNING, "the sender of an audit record has failed", e);
      }
    }
  }

  AuditWriter(AuditConfig config, Path folder, String node) {
    this.config = config;
    this.folder = folder;
    this.node = node;
    this.segments = new Segments(folder);
  }

  /**
   * Continues the trail of the folder, or begins one.
   *
   * @throws IOException if it cannot be written, another bridge writes it, or its end is damaged
   */
  void open() throws IOException {
    Segments.End end = segments.open();
    Head kept = Head.in(folder);
    if (kept != null && kept.seq() > end.seq()) {
      throw new IOException(
          "the trail in "
              + folder
              + " ends with record "
              + end.seq()
              + ", but had "
              + kept.seq()
              + "; keep it, and move it away to begin anew");
    }
    try {
      key = AuditKey.in(folder, end.seq() == 0);
      argumentsRule = new ArgumentsRule(config.arguments(), key.derived("arguments/1"));
      chain = new Chain(node, end.seq(), end.hash());
      begin(
          new AuditRecord("segment")
              .with("continues", end.file())
              .with("closed", Boolean.toString("checkpoint".equals(end.event())))
              .with("torn_bytes", end.tornBytes()));
      write(List.of(), 0);
      checkpoint();
      retain();
    } catch (GeneralSecurityException e) {
      throw new IOException("the key in " + folder + " cannot be used: " + e.getMessage(), e);
    }
  }

  private void begin(AuditRecord first) throws IOException {
    segments.begin(chain.seq() + 1);
    header = first.with("version", 1).with("public_key", key.publicKey());
  }

  /**
   * Writes all records, or none.
   *
   * @param lost how many records were lost since the last write
   */
  void write(List<Entry> batch, long lost) throws IOException {
    Chain.Place place = chain.place();
    lines.clear(MAX_KEPT_BYTES);
    try {
      if (header != null) {
        chain.write(lines, header, argumentsRule);
      }
      if (lost > 0) {
        chain.write(lines, new AuditRecord("gap").with("lost", lost), argumentsRule);
      }
      batch.forEach(entry -> chain.write(lines, entry.record(), argumentsRule));
      segments.write(lines.toSlice());
    } catch (IOException | RuntimeException | Error e) {
      chain.goBack(place);
      throw e;
    }
    header = null;
    isForced = false;
    batch.stream().filter(Entry::isAwaited).forEach(unforced::add);
  }

  /** Whether all that was written is on the disk. */
  boolean isForced() {
    return isForced;
  }

  /** Whether what was written must be on the disk now. */
  boolean isDue() {
    return !isForced && (!unforced.isEmpty() || System.nanoTime() - forcedNanos >= FORCE_NANOS);
  }

  /**
   * Puts on the disk what was written, and tells those who wait for it. After a failure the system
   * may have dropped what was written, and says so only once: those who wait are told that it is
   * not on the disk.
   */
  void force() throws IOException {
    if (!isForced) {
      try {
        segments.force();
      } catch (IOException e) {
        release(false);
        throw e;
      }
      isForced = true;
      forcedNanos = System.nanoTime();
      release(true);
    }
  }

  /** Tells those who wait whether their records are on the disk. */
  void release(boolean isWritten) {
    unforced.forEach(entry -> entry.tell(isWritten));
    unforced.clear();
  }

  /** Does what is due: checkpoints, the next file, the deletion of expired ones. */
  void maintain() throws IOException {
    boolean isFull = segments.size() >= config.segmentBytes();
    boolean isDue =
        System.nanoTime() - checkpointNanos >= CHECKPOINT_NANOS
            || chain.seq() - checkpointSeq >= CHECKPOINT_RECORDS;
    if (unsavedHead != null) {
      saveHead();
    }
    if (chain.seq() > checkpointSeq && (isFull || isDue)) {
      checkpoint();
      retain();
    }
    if (isFull) {
      begin(new AuditRecord("segment").with("continues", segments.name()));
      write(List.of(), 0);
    }
  }

  /** The last checkpoint that was written; null before the first. May be called from any thread. */
  Head head() {
    return head;
  }

  /** Signs the trail so far; a cut-off end shows to those who have a later checkpoint. */
  private void checkpoint() throws IOException {
    String signature;
    try {
      signature = key.sign(Chain.signedText(node, chain.seq() + 1, chain.last()));
    } catch (GeneralSecurityException e) {
      throw new IOException("the checkpoint cannot be signed", e);
    }
    Head next = new Head(node, chain.seq() + 1, chain.last(), signature);
    append(new AuditRecord("checkpoint").with("signature", signature));
    unsavedHead = next;
    checkpointSeq = chain.seq();
    checkpointNanos = System.nanoTime();
    saveHead();
  }

  private void saveHead() throws IOException {
    unsavedHead.write(folder);
    head = unsavedHead;
    unsavedHead = null;
  }

  private void append(AuditRecord record) throws IOException {
    write(List.of(new Entry(record, null)), 0);
    force();
  }

  /**
   * Deletes the oldest files; the next one joins on to their last hash. A checkpoint signs before
   * that they are deleted. One that cannot be deleted stays until the next time, with those after
   * it.
   */
  private void retain() throws IOException {
    List<Path> expired = segments.expired(config.keepMillis(), config.maxBytes());
    for (Path file : expired) {
      if (!recorded.contains(file)) {
        append(new AuditRecord("retention").with("deleted", file.getFileName().toString()));
        recorded.add(file);
      }
    }
    if (!expired.isEmpty() && chain.seq() > checkpointSeq) {
      checkpoint();
    }
    expired.stream().takeWhile(this::isDeleted).forEach(recorded::remove);
    SegmentIndex.deleteOrphans(folder);
  }

  private boolean isDeleted(Path file) {
    try {
      Files.delete(file);
      return true;
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the expired {0} cannot be deleted: {1}", file, e.toString());
      return false;
    }
  }

  /** Closes the trail with a checkpoint. */
  void finish() throws IOException {
    checkpoint();
  }

  /** Leaves the trail as it is. */
  void close() throws IOException {
    segments.close();
  }
}
