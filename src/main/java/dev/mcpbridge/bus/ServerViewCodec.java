package dev.mcpbridge.bus;

import dev.mcpbridge.error.ErrorCode;
import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.DestructiveToolPolicy;
import dev.mcpbridge.model.Glob;
import dev.mcpbridge.model.InstanceLocation;
import dev.mcpbridge.model.LastError;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.RiskRules;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.model.ServerState;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Timeouts;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.wire.WireReader;
import dev.mcpbridge.wire.WireWriter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Encodes the view of a server for other nodes. */
final class ServerViewCodec {
  /** As they are numbered on the wire; null if none is set. */
  private static final DestructiveToolPolicy[] ANNOTATIONS =
      Stream.concat(
              Stream.of((DestructiveToolPolicy) null), Stream.of(DestructiveToolPolicy.values()))
          .toArray(DestructiveToolPolicy[]::new);

  static final WireCodec<ServerView> WHOLE =
      new WireCodec<>((out, view) -> write(out, view, true), ServerViewCodec::read);

  /** Without the catalogue, for receivers that already have it. */
  static final WireCodec<ServerView> COUNTERS =
      new WireCodec<>((out, view) -> write(out, view, false), ServerViewCodec::read);

  private ServerViewCodec() {}

  private static void write(WireWriter out, ServerView view, boolean withCatalogue) {
    out.text(view.id().name())
        .part(view.state(), ServerViewCodec::state)
        .list(view.pids(), WireWriter::number)
        .optional(view.protocolVersion(), WireWriter::text)
        .optional(view.identity(), (w, identity) -> w.part(identity, ServerViewCodec::identity))
        .optional(
            withCatalogue ? view.catalogue() : null,
            (w, catalogue) -> w.part(catalogue, ServerViewCodec::catalogue))
        .part(view.risk(), ServerViewCodec::risk)
        .part(view.timeouts(), ServerViewCodec::timeouts)
        .optional(view.image(), WireWriter::text)
        .optional(view.authUrl(), WireWriter::text)
        .text(view.program())
        .part(view.counters(), ServerViewCodec::counters)
        .optional(view.lastError(), (w, error) -> w.text(error.reason()).text(error.stderr()))
        .number(view.sinceMillis())
        .list(view.locations(), (w, location) -> w.part(location, ServerViewCodec::residence));
  }

  private static ServerView read(WireReader in) {
    return new ServerView(
        new ServerId(in.text()),
        in.part(ServerViewCodec::state),
        in.list(WireReader::number),
        in.optional(WireReader::text),
        in.optional(r -> r.part(ServerViewCodec::identity)),
        in.optional(r -> r.part(ServerViewCodec::catalogue)),
        in.part(ServerViewCodec::risk),
        in.part(ServerViewCodec::timeouts),
        in.optional(WireReader::text),
        in.optional(WireReader::text),
        in.text(),
        in.part(ServerViewCodec::counters),
        in.optional(r -> new LastError(r.text(), r.text())),
        in.number(),
        in.list(r -> r.part(ServerViewCodec::residence)));
  }

  private static void state(WireWriter out, ServerState state) {
    if (state instanceof ServerState.Starting starting) {
      out.octet(1).number(starting.attempt());
    } else if (state instanceof ServerState.Ready) {
      out.octet(2);
    } else if (state instanceof ServerState.Degraded degraded) {
      out.octet(3).text(degraded.reason());
    } else if (state instanceof ServerState.Failed failed) {
      out.octet(4)
          .text(failed.code().slug())
          .text(failed.reason())
          .number(failed.attempts())
          .number(failed.nextTryMillis());
    } else if (state instanceof ServerState.Draining) {
      out.octet(5);
    } else if (state instanceof ServerState.Refused refused) {
      out.octet(7).text(refused.code().slug()).text(refused.reason());
    } else if (state instanceof ServerState.NeedsConsent refused) {
      out.octet(8).text(refused.reason()).optional(refused.scope(), WireWriter::text);
    } else {
      out.octet(6);
    }
  }

  private static ServerState state(WireReader in) {
    return switch (in.octet()) {
      case 1 -> new ServerState.Starting((int) in.number());
      case 2 -> new ServerState.Ready();
      case 3 -> new ServerState.Degraded(in.text());
      case 4 ->
          new ServerState.Failed(
              ErrorCode.of(in.text()), in.text(), (int) in.number(), in.number());
      case 5 -> new ServerState.Draining();
      case 7 -> new ServerState.Refused(ErrorCode.of(in.text()), in.text());
      case 8 -> new ServerState.NeedsConsent(in.text(), in.optional(WireReader::text));
      default -> new ServerState.Stopped();
    };
  }

  static void residence(WireWriter out, InstanceLocation instanceLocation) {
    out.number(instanceLocation.instance())
        .optional(instanceLocation.node(), WireWriter::text)
        .number(instanceLocation.epoch());
  }

  static InstanceLocation residence(WireReader in) {
    return new InstanceLocation((int) in.number(), in.optional(WireReader::text), in.number());
  }

  private static void identity(WireWriter out, ServerIdentity identity) {
    out.optional(identity.serverInfo(), WireCodecs::json)
        .optional(identity.capabilities(), WireCodecs::json)
        .optional(identity.instructions(), WireWriter::text)
        .flag(identity.isBridge());
  }

  private static ServerIdentity identity(WireReader in) {
    return new ServerIdentity(
        in.optional(WireCodecs::json),
        in.optional(WireCodecs::json),
        in.optional(WireReader::text),
        in.flag());
  }

  private static void catalogue(WireWriter out, Catalogue catalogue) {
    List<Tool> tools = List.copyOf(catalogue.tools().values());
    out.list(tools, (w, tool) -> WireCodecs.json(w, tool.definition()))
        .list(catalogue.resources(), WireCodecs::json)
        .list(catalogue.templates(), WireCodecs::json)
        .list(catalogue.prompts(), WireCodecs::json)
        .optional(catalogue.omitted(), WireCodecs::json)
        .list(List.copyOf(catalogue.warnings().entrySet()), ServerViewCodec::warning)
        .text(catalogue.digest());
  }

  private static Catalogue catalogue(WireReader in) {
    List<Tool> tools =
        in.list(r -> Tool.of(WireCodecs.json(r))).stream().filter(Objects::nonNull).toList();
    return new Catalogue(
        Catalogue.byName(tools),
        in.list(WireCodecs::json),
        in.list(WireCodecs::json),
        in.list(WireCodecs::json),
        in.optional(WireCodecs::json),
        warnings(in),
        in.text());
  }

  private static void warning(WireWriter out, Map.Entry<String, List<String>> entry) {
    out.text(entry.getKey()).list(entry.getValue(), WireWriter::text);
  }

  private static Map<String, List<String>> warnings(WireReader in) {
    return in.list(r -> Map.entry(r.text(), r.list(WireReader::text))).stream()
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private static void risk(WireWriter out, RiskRules rules) {
    level(out, rules.server());
    out.list(rules.tools(), (w, rule) -> level(w.text(rule.name().pattern()), rule.level()));
    level(out, rules.resources());
    level(out, rules.prompts());
    out.flag(rules.fromMethods());
    out.octet(
        rules.destructiveToolPolicy() == null ? 0 : 1 + rules.destructiveToolPolicy().ordinal());
  }

  private static RiskRules risk(WireReader in) {
    return new RiskRules(
        level(in),
        in.list(r -> new RiskRules.ToolRule(new Glob(r.text()), level(r))),
        level(in),
        level(in),
        in.flag(),
        in.choice(ANNOTATIONS));
  }

  private static void level(WireWriter out, RiskLevel level) {
    out.octet(level == null ? 0 : level.number());
  }

  private static RiskLevel level(WireReader in) {
    return RiskLevel.of(in.octet()).orElse(null);
  }

  private static void timeouts(WireWriter out, Timeouts timeouts) {
    out.number(timeouts.call())
        .list(timeouts.tools(), (w, tool) -> w.text(tool.name().pattern()).number(tool.millis()));
  }

  private static Timeouts timeouts(WireReader in) {
    return new Timeouts(
        in.number(), in.list(r -> new Timeouts.ToolTimeout(new Glob(r.text()), r.number())));
  }

  private static void counters(WireWriter out, ServerView.Counters counters) {
    out.number(counters.instances())
        .number(counters.sessions())
        .number(counters.restarts())
        .number(counters.inFlight())
        .number(counters.queued())
        .number(counters.garbageLines())
        .number(counters.dropped());
  }

  private static ServerView.Counters counters(WireReader in) {
    return new ServerView.Counters(
        (int) in.number(),
        (int) in.number(),
        (int) in.number(),
        (int) in.number(),
        (int) in.number(),
        in.number(),
        in.number());
  }
}
