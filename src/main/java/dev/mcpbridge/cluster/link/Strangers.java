package dev.mcpbridge.cluster.link;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Accepted connections that have proved nothing yet: bounds how many are open, and how much is
 * logged about them. Confined to the context of the links.
 */
final class Strangers {
  private static final Logger LOG = System.getLogger(Strangers.class.getName());
  private static final int MAX_OPEN = 100;
  private static final int MAX_REPORTS = 30;
  private static final long REPORTS_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final List<String> members;
  private final Set<Link> open = new LinkedHashSet<>();
  private String lastReport;
  private int reports;
  private long reportsSinceNanos = System.nanoTime();

  Strangers(List<String> members) {
    this.members = members;
  }

  /** Closes the oldest if there are too many: a real node proves itself at once. */
  void add(Link link) {
    open.add(link);
    if (open.size() > MAX_OPEN) {
      open.iterator().next().end("too many others came before it had proved anything");
    }
  }

  /** It has proved itself, or is closed. */
  void remove(Link link) {
    open.remove(link);
  }

  void report(Link link, String why) {
    boolean isMember = link.isKnown() && link.slot() >= 0 && link.slot() < members.size();
    report(isMember ? why + " (it calls itself " + members.get(link.slot()) + ")" : why);
  }

  /** Logs the same reason once, and no more than a few reasons in a minute. */
  void report(String why) {
    long now = System.nanoTime();
    if (now - reportsSinceNanos > REPORTS_NANOS) {
      reportsSinceNanos = now;
      reports = 0;
    }
    if (reports < MAX_REPORTS && !String.valueOf(why).equals(lastReport)) {
      reports++;
      lastReport = String.valueOf(why);
      LOG.log(Level.WARNING, "a connection to the cluster port was refused: {0}", why);
    }
  }
}
