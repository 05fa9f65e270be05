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
 * Polls the configuration file every second and applies its changes. It compares the content, since
 * editors and orchestrators replace files in many ways. An invalid file is rejected as a whole and
 * the bridge keeps its configuration. If the nodes of a cluster share their files, the newest file
 * of any node applies to all. Runs on its own daemon thread.
 */
final class ConfigWatch implements Runnable {
  private static final Logger LOG = System.getLogger(ConfigWatch.class.getName());
  private static final long INTERVAL_MILLIS = 1_000;

  private final ConfigFile source;
  private final ConfigReader reader;
  private final Bridge bridge;
  private final boolean isShared;
  private final String started;
  private String lastText;
  private String ownText;
  private String applied;
  private long appliedMillis;

  /** Whether the applied file must be shared again if all other nodes have lost it. */
  private boolean hasChanged;

  /**
   * @param text the text that the bridge was started with; the file may have changed since
   * @param isShared whether the nodes of the cluster share their files
   */
  ConfigWatch(
      ConfigFile source, String text, ConfigReader reader, Bridge bridge, boolean isShared) {
    this.source = source;
    this.reader = reader;
    this.bridge = bridge;
    this.isShared = isShared;
    this.started = text;
    this.lastText = text;
    this.ownText = text;
    this.applied = text;
    this.appliedMillis =
        isValid(text) ? Math.min(source.modifiedMillis(), System.currentTimeMillis()) : 0;
  }

  /** A bridge also starts with an invalid server entry, but such a file must not be shared. */
  private boolean isValid(String text) {
    try {
      reader.read(text, ConfigReader.Strictness.ALL_OR_NOTHING);
      return true;
    } catch (ConfigException e) {
      return false;
    }
  }

  /** Watches the file; the built-in configuration never changes. */
  void start() {
    if (source.path() != null) {
      Thread thread = new Thread(this, "config-watch");
      thread.setDaemon(true);
      thread.start();
    }
  }

  @Override
  public void run() {
    try {
      while (true) {
        Thread.sleep(INTERVAL_MILLIS);
        checkFile();
        if (isShared) {
          synchronize(bridge.newestConfiguration());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void checkFile() {
    String text = read();
    if (text == null || text.equals(lastText)) {
      return;
    }
    lastText = text;
    if (apply(text, source.toString())) {
      ownText = text;
      applied = text;
      hasChanged = true;
      long shared = bridge.newestConfiguration().map(ReplicatedText.Version::millis).orElse(0L);
      appliedMillis = Math.max(System.currentTimeMillis(), shared + 1);
    }
  }

  private void synchronize(Optional<ReplicatedText.Version> shared) {
    if (shared.isEmpty()) {
      if (hasChanged) {
        bridge.shareConfiguration(applied, appliedMillis);
      }
      return;
    }
    ReplicatedText.Version newest = shared.get();
    if (newest.millis() < appliedMillis) {
      bridge.shareConfiguration(applied, appliedMillis);
    } else {
      follow(newest);
    }
  }

  private void follow(ReplicatedText.Version newest) {
    appliedMillis = newest.millis();
    hasChanged = true;
    if (!newest.text().equals(applied)) {
      applied = newest.text();
      apply(ConfigReader.merge(newest.text(), ownText), "the configuration of another node");
    }
  }

  private boolean apply(String text, String origin) {
    try {
      BridgeConfig config = reader.read(text, ConfigReader.Strictness.ALL_OR_NOTHING);
      config.warnings().forEach(warning -> LOG.log(Level.WARNING, "{0}: {1}", origin, warning));
      bridge
          .reload(config)
          .onSuccess(done -> report(origin, RestartKeys.changed(started, text)))
          .onFailure(e -> LOG.log(Level.ERROR, "reload failed: {0}", e.getMessage()));
      return true;
    } catch (ConfigException e) {
      LOG.log(Level.ERROR, "{0} is invalid and was not applied: {1}", origin, e.getMessage());
      return false;
    }
  }

  private static void report(String origin, List<String> keysForRestart) {
    if (keysForRestart.isEmpty()) {
      LOG.log(Level.INFO, "{0} was reloaded and applied", origin);
    } else {
      LOG.log(
          Level.WARNING,
          "{0} was reloaded and applied, except what needs a restart of the bridge: {1}",
          origin,
          String.join(", ", keysForRestart));
    }
  }

  /** Null while the file is missing, for example while an editor replaces it. */
  private String read() {
    try {
      return source.read();
    } catch (ConfigException e) {
      return null;
    }
  }
}
