package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Digests of entries, including the values of their placeholders. Stateless. */
final class EntryDigests {
  /** Keys that define how a server is operated, not what it is. */
  private static final List<String> OPERATIONAL_KEYS =
      List.of(
          "riskLevel",
          "risk",
          "timeout",
          "startTimeout",
          "heartbeat",
          "maxRestartDelay",
          "start",
          "instances",
          "maxInFlight",
          "maxQueued",
          "logLevel",
          "placement",
          "maxSessions",
          "sessionIdle",
          "description",
          "disabled",
          "hiddenCharacters");

  private EntryDigests() {}

  /** Digest of what is started or called; differs for different programs. */
  static String ofProgram(JsonNode entry, UpstreamTarget upstreamTarget) {
    JsonNode program = entry.deepCopy();
    if (program instanceof ObjectNode members) {
      members.remove(OPERATIONAL_KEYS);
    }
    return ofEntry(program, upstreamTarget);
  }

  /** Digest of the whole entry: equal exactly if the entries are equal. */
  static String ofEntry(JsonNode entry, UpstreamTarget upstreamTarget) {
    Sha256 digest = Sha256.of(Json.slice(entry).text());
    resolved(upstreamTarget).forEach(text -> digest.add(text).end());
    return digest.hex();
  }

  private static Stream<String> resolved(UpstreamTarget upstreamTarget) {
    if (upstreamTarget instanceof ProcessTarget processTarget) {
      return Stream.concat(processTarget.argv().stream(), revealed(processTarget.environment()));
    }
    if (upstreamTarget instanceof ContainerTarget container) {
      return Stream.concat(container.command().stream(), revealed(container.environment()));
    }
    if (upstreamTarget instanceof OpenApiSource api) {
      return Stream.concat(
          revealed(api.access().headers()),
          api.credentials().stream().map(ApiCredential::digestInput));
    }
    return revealed(
        upstreamTarget instanceof ToolCallSource functions
            ? functions.access().headers()
            : ((RemoteTarget) upstreamTarget).access().headers());
  }

  private static Stream<String> revealed(Map<String, Secret> secrets) {
    return secrets.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(secret -> secret.getKey() + "=" + secret.getValue().reveal());
  }
}
