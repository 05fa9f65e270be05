package dev.mcpbridge.call;

import dev.mcpbridge.bus.Bus;
import dev.mcpbridge.bus.NodeCalls;
import dev.mcpbridge.limit.BoundedMap;
import dev.mcpbridge.model.Call;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The reports of the calls that were made at this node: of those that run, and of the last that
 * have ended, some for each caller. Confined to the HTTP verticle.
 */
final class CallReports {
  private static final int MAX_ENDED = 50;
  private static final int MAX_CALLERS = 200;
  private static final int MAX_SHOWN = 500;
  private static final Comparator<CallSummary> NEWEST_FIRST =
      Comparator.comparingLong(CallSummary::startedMillis).reversed();

  private final Bus bus;
  private final Set<CallReport> running = new LinkedHashSet<>();

  /** By caller, the one that was idle longest first. */
  private final Map<String, Deque<CallSummary>> ended = new BoundedMap<>(MAX_CALLERS);

  CallReports(Bus bus) {
    this.bus = bus;
  }

  CallReport begin(CallRequest request) {
    return begin(new CallReport(bus, request, this::ended));
  }

  /** The report of a call that no list shows, so that its caller learns nothing of it. */
  CallReport unlisted(CallRequest request) {
    return new CallReport(bus, request, ended -> {});
  }

  /**
   * @param confirmation id of the confirmation of this approved call
   */
  CallReport begin(Call call, String confirmation) {
    return begin(new CallReport(bus, call, confirmation, this::ended));
  }

  private CallReport begin(CallReport report) {
    running.add(report);
    return report;
  }

  private void ended(CallReport report) {
    running.remove(report);
    String share = report.share();
    Deque<CallSummary> known = ended.remove(share);
    Deque<CallSummary> last = known == null ? new ArrayDeque<>() : known;
    last.addFirst(report.summary());
    if (last.size() > MAX_ENDED) {
      last.removeLast();
    }
    ended.put(share, last);
  }

  /** Whether a call runs that this caller has made. */
  boolean isRunning(String callId, String caller) {
    return running.stream()
        .map(CallReport::summary)
        .anyMatch(call -> call.id().equals(callId) && call.caller().equals(caller));
  }

  /** The newest calls that a caller may see: those that run, and those that have ended. */
  List<NodeCalls.Entry> seenBy(NodeCalls.Question question) {
    List<NodeCalls.Entry> entries =
        new ArrayList<>(newest(running.stream().map(CallReport::summary), question));
    entries.addAll(newest(ended.values().stream().flatMap(Deque::stream), question));
    return entries;
  }

  private static List<NodeCalls.Entry> newest(
      Stream<CallSummary> calls, NodeCalls.Question question) {
    return calls
        .filter(call -> question.isAll() || call.caller().equals(question.caller()))
        .sorted(NEWEST_FIRST)
        .limit(MAX_SHOWN)
        .map(CallSummary::entry)
        .toList();
  }
}
