package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.cluster.ReplicatedText;
import dev.mcpbridge.config.BridgeConfig;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import dev.mcpbridge.config.RestartKeys;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Optional;

/**
 * Looks at the configuration file every second (its content, since editors and orchestrators
 * replace files in many ways) and applies what has changed. A wrong file is refused whole and the
 * bridge goes on as it was. Where the nodes of a cluster share their files the newest one counts,
 * whichever node has it. A daemon thread of its own.
 */
final class ConfigWatch implements Runnable {
  private static final Logger LOG = System.getLogger(ConfigWatch.class.getName());
  private static final long INTERVAL_MILLIS = 1_000;

  private final ConfigFile source;
  private final ConfigReader reader;
  private final Bridge bridge;
  private final boolean isShared;
  private final String started;
  private String seen;
  private String own;
  private String applied;
  private long appliedMillis;

  /** Whether the others are to have it, should they all have lost it. */
  private boolean hasChanged;

  private ConfigWatch(
      ConfigFile source, String text, ConfigReader reader, Bridge bridge, boolean isShared) {
    this.source = source;
    this.reader = reader;
    this.bridge = bridge;
    this.isShared = isShared;
    this.started = text;
    this.seen = text;
    this.own = text;
    this.applied = text;
    this.appliedMillis =
        isRight(text) ? Math.min(source.modifiedMillis(), System.currentTimeMillis()) : 0;
  }

  /** A start forgives what others would not follow. */
  private boolean isRight(String text) {
    try {
      reader.read(text, ConfigReader.Strictness.WHOLE);
      return true;
    } catch (ConfigException e) {
      return false;
    }
  }

  /**
   * @param text with which the bridge was started; the file may say something else already
   * @param isShared whether the other nodes follow this one's file, and this one theirs
   */
  static void start(
      ConfigFile source, String text, ConfigReader reader, Bridge bridge, boolean isShared) {
    if (source.path() != null) {
      ConfigWatch watch = new ConfigWatch(source, text, reader, bridge, isShared);
      Thread thread = new Thread(watch, "config-watch");
      thread.setDaemon(true);
      thread.start();
    }
  }

  @Override
  public void run() {
    try {
      while (true) {
        Thread.sleep(INTERVAL_MILLIS);
        look();
        if (isShared) {
          compare(bridge.newestFile());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    String text = read();
    if (text == null || text.equals(seen)) {
      return;
    }
    seen = text;
    if (apply(text, source.toString())) {
      own = text;
      applied = text;
      hasChanged = true;
      long known = bridge.newestFile().map(ReplicatedText.Version::millis).orElse(0L);
      appliedMillis = Math.max(System.currentTimeMillis(), known + 1);
    }
  }

  private void compare(Optional<ReplicatedText.Version> known) {
    if (known.isEmpty()) {
      if (hasChanged) {
        bridge.share(applied, appliedMillis);
      }
      return;
    }
    ReplicatedText.Version newest = known.get();
    if (newest.millis() < appliedMillis) {
      bridge.share(applied, appliedMillis);
    } else {
      follow(newest);
    }
  }

  private void follow(ReplicatedText.Version newest) {
    appliedMillis = newest.millis();
    hasChanged = true;
    if (!newest.text().equals(applied)) {
      applied = newest.text();
      apply(ConfigReader.combined(newest.text(), own), "the configuration of another node");
    }
  }

  private boolean apply(String text, String from) {
    try {
      BridgeConfig next = reader.read(text, ConfigReader.Strictness.WHOLE);
      next.warnings().forEach(warning -> LOG.log(Level.WARNING, "{0}: {1}", from, warning));
      bridge
          .reload(next)
          .onSuccess(done -> report(from, RestartKeys.changed(started, text)))
          .onFailure(e -> LOG.log(Level.ERROR, "reload failed: {0}", e.getMessage()));
      return true;
    } catch (ConfigException e) {
      LOG.log(Level.ERROR, "{0} is wrong and was not applied: {1}", from, e.getMessage());
      return false;
    }
  }

  private static void report(String from, List<String> waiting) {
    if (waiting.isEmpty()) {
      LOG.log(Level.INFO, "{0} was read again and applied", from);
    } else {
      LOG.log(
          Level.WARNING,
          "{0} was read again and applied, except for what needs a restart of the bridge: {1}",
          from,
          String.join(", ", waiting));
    }
  }

  /** Null while the file is not there, as between two steps of an editor. */
  private String read() {
    try {
      return source.read();
    } catch (ConfigException e) {
      return null;
    }
  }
}
