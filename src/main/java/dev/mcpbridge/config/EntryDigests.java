package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.Sha256;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Digests of entries, with the values that their placeholders stand for. Stateless. */
final class EntryDigests {
  /** What says how a server is treated, and not what it is. */
  private static final List<String> KEPT_ALIVE_BY =
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

  /** Of what runs or is called: another one for another program. */
  static String program(JsonNode entry, UpstreamTarget upstreamTarget) {
    JsonNode program = entry.deepCopy();
    if (program instanceof ObjectNode members) {
      members.remove(KEPT_ALIVE_BY);
    }
    return whole(program, upstreamTarget);
  }

  /** Of all that an entry says: the same exactly for entries that say the same. */
  static String whole(JsonNode entry, UpstreamTarget upstreamTarget) {
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
          revealed(api.access().headers()), api.credentials().stream().map(ApiCredential::spelt));
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
