package dev.mcpbridge.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Writes the results of the ladder as JSON and as a chart. */
final class Report {
  private static final int BAR = 480;

  private final List<Ladder.Rung> rungs;

  Report(List<Ladder.Rung> rungs) {
    this.rungs = rungs;
  }

  void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("ladder.json"), json());
    Files.writeString(folder.resolve("ladder.svg"), svg());
    System.out.println();
    for (int connections : new int[] {1, 8, 64}) {
      Ladder.Rung bridge = rung("bridge", connections);
      Ladder.Rung bare = rung("bare", connections);
      Ladder.Rung pipe = rung("pipe", connections);
      System.out.printf(
          Locale.ROOT,
          "c=%-3d bridge/bare %.2f of the calls/s; p50 over the pipe +%.0f us, over bare +%.0f us%n",
          connections,
          bridge.perSecond() / bare.perSecond(),
          bridge.p50() - pipe.p50(),
          bridge.p50() - bare.p50());
      System.out.printf(
          Locale.ROOT,
          "c=%-3d MCP/REST %.2f of the calls/s%n",
          connections,
          rung("bridge, MCP", connections).perSecond() / bridge.perSecond());
      System.out.printf(
          Locale.ROOT,
          "c=%-3d a tool call takes %.2f of the time of REST's%n",
          connections,
          bridge.perSecond() / rung("bridge, tool call", connections).perSecond());
    }
    System.out.printf(
        Locale.ROOT,
        "8 tool calls in a turn take %.2f of the time of one%n",
        rung("bridge, 8 tool calls", 1).p50() / rung("bridge, tool call", 1).p50());
  }

  private Ladder.Rung rung(String name, int connections) {
    return rungs.stream()
        .filter(rung -> rung.name().equals(name) && rung.connections() == connections)
        .findFirst()
        .orElseThrow();
  }

  private String json() {
    return rungs.stream()
        .map(
            rung ->
                String.format(
                    Locale.ROOT,
                    "  {\"rung\": \"%s\", \"connections\": %d, \"calls_per_second\": %.0f,"
                        + " \"p50_us\": %.1f, \"p99_us\": %.1f}",
                    rung.name(),
                    rung.connections(),
                    rung.perSecond(),
                    rung.p50(),
                    rung.p99()))
        .collect(Collectors.joining(",\n", "[\n", "\n]\n"));
  }

  private String svg() {
    double max = rungs.stream().mapToDouble(Ladder.Rung::perSecond).max().orElse(1);
    StringBuilder out = new StringBuilder();
    int height = 40 + 26 * rungs.size();
    out.append(
        String.format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"%d\""
                + " font-family=\"sans-serif\" font-size=\"13\">%n"
                + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n"
                + "<text x=\"10\" y=\"22\" font-weight=\"bold\">calls per second"
                + " (logarithmic)</text>%n",
            height));
    int y = 36;
    for (Ladder.Rung rung : rungs) {
      double width = BAR * Math.log10(Math.max(10, rung.perSecond())) / Math.log10(max);
      String colour = rung.name().startsWith("bridge") ? "#2266aa" : "#aaaaaa";
      out.append(
          String.format(
              Locale.ROOT,
              "<text x=\"10\" y=\"%d\">%s, c=%d</text>"
                  + "<rect x=\"190\" y=\"%d\" width=\"%.0f\" height=\"18\" fill=\"%s\"/>"
                  + "<text x=\"%.0f\" y=\"%d\">%,.0f, p50 %.0f µs</text>%n",
              y + 14,
              rung.name(),
              rung.connections(),
              y,
              width,
              colour,
              width + 196,
              y + 14,
              rung.perSecond(),
              rung.p50()));
      y += 26;
    }
    return out.append("</svg>\n").toString();
  }
}
