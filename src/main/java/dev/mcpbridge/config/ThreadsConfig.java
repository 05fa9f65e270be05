package dev.mcpbridge.config;

/**
 * Threads of the bridge.
 *
 * @param serversOnWorkers whether servers run on worker threads; otherwise they share the event
 *     loop with HTTP
 */
public record ThreadsConfig(boolean serversOnWorkers) {
  /** With fewer processors, handing each message to another thread costs more than it saves. */
  private static final int MIN_PROCESSORS_FOR_WORKERS = 4;

  static ThreadsConfig read(Section threads) {
    String servers = threads.text("servers");
    boolean isAuto = servers.equals("auto");
    return new ThreadsConfig(
        isAuto
            ? Runtime.getRuntime().availableProcessors() >= MIN_PROCESSORS_FOR_WORKERS
            : servers.equals("worker"));
  }
}
