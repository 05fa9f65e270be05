package dev.mcpbridge.perf;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** JMH benchmarks of framing and envelopes. */
public final class Micro {
  private Micro() {}

  public static void main(String[] args) throws RunnerException {
    new Runner(
            new OptionsBuilder()
                .include(Framing.class.getName())
                .include(Splicing.class.getName())
                .mode(Mode.AverageTime)
                .timeUnit(TimeUnit.NANOSECONDS)
                .forks(1)
                .warmupIterations(2)
                .warmupTime(TimeValue.seconds(1))
                .measurementIterations(3)
                .measurementTime(TimeValue.seconds(1))
                .build())
        .run();
  }
}
