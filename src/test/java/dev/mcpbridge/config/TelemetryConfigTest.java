package dev.mcpbridge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.mcpbridge.config.ConfigReader.Strictness;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TelemetryConfigTest {
  private static TelemetryConfig read(String telemetry, Map<String, String> environment) {
    String config = "{'telemetry':" + telemetry + ",'mcpServers':{}}";
    return new ConfigReader(environment)
        .read(config.replace('\'', '"'), Strictness.ALL_OR_NOTHING)
        .telemetry();
  }

  @Test
  void tracesAreOnOnlyWithAnEndpoint() {
    assertFalse(read("{}", Map.of()).isOn());
    assertFalse(read("{'sample':1}", Map.of()).isOn());
    assertTrue(read("{'otlp':{'endpoint':'http://localhost:4318'}}", Map.of()).isOn());
    assertTrue(read("{}", Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x")).isOn());
    assertTrue(read("{}", Map.of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://x")).isOn());
  }

  @Test
  void theEnvironmentCanDisableThem() {
    String endpoint = "{'otlp':{'endpoint':'http://localhost:4318'}}";

    assertFalse(read(endpoint, Map.of("OTEL_SDK_DISABLED", "true")).isOn());
    assertTrue(read(endpoint, Map.of("OTEL_SDK_DISABLED", "false")).isOn());
  }

  @Test
  void aSamplerOfTheEnvironmentDecidesAlone() {
    assertEquals(1, read("{'sample':0.5}", Map.of("OTEL_TRACES_SAMPLER", "always_off")).sample());
  }

  @Test
  void headersAreSecretAndTheRestHasDefaults() {
    TelemetryConfig config =
        read("{'otlp':{'endpoint':'http://localhost:4318','headers':{'x-key':'s3'}}}", Map.of());

    assertEquals(new Secret("s3"), config.headers().get("x-key"));
    assertFalse(config.toString().contains("s3"), config.toString());
    assertEquals(0.01, config.sample());
    assertEquals(100, config.maxSampledPerSecond());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'otlp':{'endpoint':'localhost:4318'}} | telemetry.otlp.endpoint: expected an http",
        "{'otlp':{'headers':{'a b':'x'}}} | not a valid request header",
        "{'otlp':{'headers':{'a':'b\\nc'}}} | not a valid request header",
        "{'sample':2} | telemetry.sample",
        "{'maxSampledPerSecond':-1} | telemetry.maxSampledPerSecond"
      })
  void aMistakeIsNamed(String telemetry, String message) {

    Exception e = assertThrows(ConfigException.class, () -> read(telemetry, Map.of()));

    assertTrue(e.getMessage().contains(message), e.getMessage());
  }
}
