package dev.mcpbridge.call;

import dev.mcpbridge.bus.Addresses;
import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.model.BridgeEvent;
import dev.mcpbridge.model.Notice;
import dev.mcpbridge.model.PinRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.pins.Judgement;
import dev.mcpbridge.pins.ServerJudgement;
import dev.mcpbridge.protocol.HiddenCharacters;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.JsonWriter;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reports definitions that are not the approved ones, once for each change: to the log by name, and
 * as an event with their number, since not every listener may know their names.
 */
final class PinReports {
  private static final Logger LOG = System.getLogger(PinReports.class.getName());
  private static final int MAX_NAMED = 10;

  private final Bus bus;

  /** What was reported last, by server; servers with nothing to report are absent. */
  private final Map<ServerId, List<String>> reported = new HashMap<>();

  PinReports(Bus bus) {
    this.bus = bus;
  }

  /**
   * @param judgement empty if the definitions of the server are not judged
   */
  void report(PinRules rules, ServerId server, Optional<ServerJudgement> judgement) {
    List<String> open =
        judgement.stream()
            .flatMap(each -> each.all().values().stream())
            .filter(each -> each.state().isOpen(rules))
            .map(PinReports::described)
            .toList();
    List<String> before = reported.getOrDefault(server, List.of());
    if (open.equals(before)) {
      return;
    }
    if (open.isEmpty()) {
      reported.remove(server);
      String state = judgement.isPresent() ? "approved" : "off";
      LOG.log(Level.INFO, "server={0} pins={1}", server, state);
    } else {
      reported.put(server, open);
      String more = open.size() > MAX_NAMED ? ", and " + (open.size() - MAX_NAMED) + " more" : "";
      LOG.log(Level.WARNING, "server={0} pins={1}", server, String.join(", ", shown(open)) + more);
    }
    bus.publish(
        Addresses.EVENTS, new BridgeEvent("pins", event(server, judgement), null, server, null));
    bus.offer(
        Addresses.NOTICES,
        () ->
            new Notice(
                Notice.Type.DEFINITIONS_CHANGED,
                server.name(),
                notice(server, judgement, open),
                null));
  }

  private static String described(Judgement judgement) {
    return judgement.state().word()
        + (judgement.isHeld() ? " (held) " : " ")
        + HiddenCharacters.escaped(judgement.name().toString());
  }

  /** The first ones, cut to a bounded length: a server chooses their names. */
  private static List<String> shown(List<String> open) {
    return open.stream()
        .limit(MAX_NAMED)
        .map(each -> each.substring(0, Math.min(each.length(), Notice.MAX_TEXT)))
        .toList();
  }

  private static JsonSlice event(ServerId server, Optional<ServerJudgement> judgement) {
    return counts("server", server, judgement).endObject().toSlice();
  }

  /** For those who may know the names. */
  private static JsonSlice notice(
      ServerId server, Optional<ServerJudgement> judgement, List<String> open) {
    JsonWriter out = counts("server_id", server, judgement).name("definitions").beginArray();
    shown(open).forEach(out::value);
    return out.endArray().endObject().toSlice();
  }

  private static JsonWriter counts(
      String key, ServerId server, Optional<ServerJudgement> judgement) {
    JsonWriter out = new JsonWriter().beginObject().member(key, server.name());
    judgement.ifPresent(
        each -> each.counts().forEach((state, count) -> out.member(state.word(), count)));
    return out.member("held", judgement.map(ServerJudgement::held).orElse(0L));
  }

  void forget(ServerId server) {
    reported.remove(server);
  }
}
