package dev.mcpbridge.cli;

import dev.mcpbridge.Bridge;
import dev.mcpbridge.config.ConfigException;
import dev.mcpbridge.config.ConfigFile;
import dev.mcpbridge.config.ConfigReader;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Objects;

/**
 * Looks at the configuration file every second (its content, since editors and orchestrators
 * replace files in many ways) and applies what has changed. A wrong file is refused whole and the
 * bridge goes on as it was. A daemon thread of its own.
 */
final class ConfigWatch implements Runnable {
  private static final Logger LOG = System.getLogger(ConfigWatch.class.getName());
  private static final long INTERVAL_MILLIS = 1_000;

  private final ConfigFile source;
  private final ConfigReader reader;
  private final Bridge bridge;
  private String seen;

  private ConfigWatch(ConfigFile source, ConfigReader reader, Bridge bridge) {
    this.source = source;
    this.reader = reader;
    this.bridge = bridge;
    this.seen = read();
  }

  static void start(ConfigFile source, ConfigReader reader, Bridge bridge) {
    if (source.path() != null) {
      Thread thread = new Thread(new ConfigWatch(source, reader, bridge), "config-watch");
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
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    String text = read();
    if (text == null || Objects.equals(text, seen)) {
      return;
    }
    seen = text;
    try {
      bridge
          .reload(reader.read(text, ConfigReader.Strictness.WHOLE))
          .onSuccess(done -> LOG.log(Level.INFO, "{0} was read again and applied", source))
          .onFailure(e -> LOG.log(Level.ERROR, "reload failed: {0}", e.getMessage()));
    } catch (ConfigException e) {
      LOG.log(Level.ERROR, "{0} is wrong and was not applied: {1}", source, e.getMessage());
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
