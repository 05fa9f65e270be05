package dev.mcpbridge.pins;

import dev.mcpbridge.model.AuditRecord;
import dev.mcpbridge.model.ServerId;
import dev.mcpbridge.pins.Definition.Name;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Records in the audit trail what is decided about definitions.
 *
 * @param trail takes the records
 */
public record PinRecords(Consumer<AuditRecord> trail) {
  /** Of more decisions at once only their number is recorded. */
  private static final int MAX_AT_ONCE = 1_000;

  /** Where a decision comes from. */
  enum Source {
    /** A principal, or the first sight of a definition. */
    CALLER,
    LOCK_FILE
  }

  /** A lock file that was read at the start. */
  void loaded(LockFile.Content file) {
    int definitions = file.pins().values().stream().mapToInt(server -> server.all().size()).sum();
    trail.accept(
        new AuditRecord("pin")
            .with("source", "lock_file")
            .with("decision", "load")
            .with("digest", file.digest())
            .with("definitions", definitions));
  }

  /**
   * The pins of a server were replaced.
   *
   * @param before null if it had none
   * @param after null if it has none any longer
   */
  void replaced(ServerId server, ServerPins before, ServerPins after, Source source) {
    Map<Name, Pin> earlier = before == null ? Map.of() : before.all();
    Map<Name, Pin> later = after == null ? Map.of() : after.all();
    Set<Name> names = new TreeSet<>(earlier.keySet());
    names.addAll(later.keySet());
    names.removeIf(name -> later.containsKey(name) && later.get(name).equals(earlier.get(name)));
    names.stream()
        .limit(MAX_AT_ONCE)
        .forEach(name -> trail.accept(record(server, name, later.get(name), source)));
    if (names.size() > MAX_AT_ONCE) {
      trail.accept(
          new AuditRecord("pin")
              .with("server", server.name())
              .with("decision", "more")
              .with("definitions", names.size() - MAX_AT_ONCE));
    }
  }

  private static AuditRecord record(ServerId server, Name name, Pin pin, Source source) {
    AuditRecord record = new AuditRecord("pin");
    if (source == Source.LOCK_FILE) {
      record.with("source", "lock_file").with("by", pin == null ? null : pin.by());
    } else if (pin != null && pin.by().equals(Pin.FIRST_SIGHT)) {
      record.with("source", "first_sight");
    } else {
      record.with("principal", pin == null ? null : pin.by());
    }
    return record
        .with("server", server.name())
        .with("kind", name.kind().word())
        .with("name", name.text())
        .with("decision", pin == null ? "forget" : pin.isBlocked() ? "block" : "approve")
        .with("digest", pin == null ? null : pin.digest());
  }
}
