package dev.mcpbridge.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.protocol.Urgency;
import dev.mcpbridge.quota.Allowance;
import dev.mcpbridge.quota.Dimension;
import dev.mcpbridge.quota.QuotaRule;
import dev.mcpbridge.quota.UrgencyRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Reads the lists {@code quotas} and {@code priorities}. */
final class QuotaReader {
  private static final List<String> KINDS = List.of("rate", "quota", "concurrent", "repeats");

  private QuotaReader() {}

  static List<QuotaRule> read(Section root) {
    List<QuotaRule> rules = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Section quota : root.sections("quotas")) {
      QuotaRule rule = rule(quota.withoutNulls());
      if (!names.add(rule.name())) {
        quota.report("name", "another quota already has this name");
      }
      rules.add(rule);
    }
    return List.copyOf(rules);
  }

  static List<UrgencyRule> priorities(Section root) {
    List<UrgencyRule> rules = new ArrayList<>();
    for (Section each : root.sections("priorities")) {
      Section rule = each.withoutNulls();
      int urgency = rule.integer("urgency", Urgency.USUAL);
      int mostUrgent = rule.integer("mostUrgent", urgency);
      rules.add(
          new UrgencyRule(
              AccessReader.who(rule.section("who")), Math.max(urgency, mostUrgent), mostUrgent));
    }
    return List.copyOf(rules);
  }

  private static QuotaRule rule(Section quota) {
    return new QuotaRule(
        quota.text("name", ""),
        AccessReader.who(quota.section("who")),
        AccessReader.items(quota, List.of()),
        per(quota),
        allowance(quota));
  }

  /** One dimension or a list. */
  private static Set<Dimension> per(Section quota) {
    Set<Dimension> dimensions = EnumSet.noneOf(Dimension.class);
    JsonNode per = quota.json("per");
    if (per.isArray() && per.isEmpty()) {
      quota.report("per", "expected a non-empty list");
    }
    for (JsonNode each : per.isArray() ? per : List.of(per)) {
      try {
        if (!each.isMissingNode()) {
          dimensions.add(Dimension.of(each.asText()));
        }
      } catch (IllegalArgumentException e) {
        quota.report("per", "expected caller, client, role, server or tool, found " + each);
      }
    }
    return dimensions;
  }

  private static Allowance allowance(Section quota) {
    List<String> kinds = KINDS.stream().filter(quota::has).toList();
    if (kinds.size() != 1) {
      quota.report("", "expected one of " + String.join(", ", KINDS));
      return new Allowance.Concurrent(1);
    }
    reportUnused(quota, "window", !quota.has("rate") && !quota.has("repeats"));
    reportUnused(quota, "burst", !quota.has("rate"));
    reportUnused(quota, "period", !quota.has("quota"));
    Duration window = Duration.ofMillis(quota.seconds("window"));
    return switch (kinds.get(0)) {
      case "rate" ->
          new Allowance.Rate(
              quota.integer("rate", 1), window, quota.integer("burst", quota.integer("rate", 1)));
      case "quota" ->
          new Allowance.PerPeriod(
              quota.integer("quota", 1),
              Allowance.Period.valueOf(quota.text("period").toUpperCase(Locale.ROOT)));
      case "concurrent" -> new Allowance.Concurrent(quota.integer("concurrent", 1));
      default -> new Allowance.Repeats(quota.integer("repeats", 1), window);
    };
  }

  private static void reportUnused(Section quota, String key, boolean isUnused) {
    if (isUnused && quota.has(key)) {
      quota.report(key, "has no meaning for this kind of quota");
    }
  }
}
