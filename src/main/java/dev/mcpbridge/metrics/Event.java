package dev.mcpbridge.metrics;

import java.util.List;

/** What is counted by labels. A label never has a value that a caller chooses. */
public enum Event {
  ACCESS_DECISION(
      "access_decisions",
      "Decisions about calls by access rule: allow, deny, or would_deny in report mode.",
      List.of("decision", "rule"),
      List.of()),
  GATE(
      "gate",
      "Decisions about calls: allow, confirm, isolate or refuse, with the risk level of the first"
          + " three.",
      List.of("level", "verdict"),
      List.of(
          List.of("1", "allow"),
          List.of("2", "confirm"),
          List.of("2", "allow"),
          List.of("3", "isolate"),
          List.of("", "refuse"))),
  APPROVAL(
      "approvals",
      "Confirmations that were approved, rejected or expired.",
      List.of("decision"),
      List.of(List.of("approved"), List.of("rejected"), List.of("expired"))),
  CONTAINER_START(
      "sandbox_containers",
      "Containers for calls at level 3: started or failed.",
      List.of("outcome"),
      List.of(List.of("started"), List.of("failed"))),
  CACHE(
      "cache_results",
      "Results of tools and resources with a cache: hit, miss if it came from the server, or"
          + " collapsed if it came for another call.",
      List.of("status"),
      List.of(List.of("hit"), List.of("miss"), List.of("collapsed"))),
  WEBHOOK(
      "webhook_notices",
      "Notices to webhooks: delivered, retried after a failed attempt, failed after all attempts, or"
          + " dropped because too many wait.",
      List.of("outcome"),
      List.of(List.of("delivered"), List.of("retried"), List.of("failed"), List.of("dropped")));

  private final String metric;
  private final String help;
  private final List<String> labels;
  private final List<List<String>> known;

  Event(String metric, String help, List<String> labels, List<List<String>> known) {
    this.metric = metric;
    this.help = help;
    this.labels = labels;
    this.known = known;
  }

  String metric() {
    return metric;
  }

  String help() {
    return help;
  }

  List<String> labels() {
    return labels;
  }

  /** Values that are counted from zero: a rate needs a first value before the first event. */
  List<List<String>> known() {
    return known;
  }
}
