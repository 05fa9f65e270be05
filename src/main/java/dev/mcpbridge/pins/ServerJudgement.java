package dev.mcpbridge.pins;

import dev.mcpbridge.model.Catalogue;
import dev.mcpbridge.model.ServerIdentity;
import dev.mcpbridge.model.ServerView;
import dev.mcpbridge.model.Tool;
import dev.mcpbridge.pins.Definition.Name;
import dev.mcpbridge.pins.Judgement.State;
import dev.mcpbridge.protocol.JsonSlice;
import dev.mcpbridge.protocol.Sha256;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The judgements about all definitions of a server, and what is offered of it. Immutable.
 *
 * @param whole what the server defines
 * @param all by name; the server's definitions in its order, then the missing ones
 * @param shown what is offered
 */
public record ServerJudgement(ServerView whole, Map<Name, Judgement> all, ServerView shown) {

  static ServerJudgement of(ServerView server, Map<Name, Judgement> all) {
    return new ServerJudgement(server, all, shown(server, all));
  }

  /** The same judgements about another view of the server, with the same definitions. */
  ServerJudgement of(ServerView server) {
    boolean isWhole =
        shown.catalogue() == whole.catalogue() && shown.identity() == whole.identity();
    return new ServerJudgement(
        server, all, isWhole ? server : server.offering(shown.catalogue(), shown.identity()));
  }

  private static ServerView shown(ServerView server, Map<Name, Judgement> all) {
    if (all.values().stream().noneMatch(Judgement::isHeld)) {
      return server;
    }
    Catalogue catalogue = server.catalogue();
    Map<String, Tool> tools = new LinkedHashMap<>(catalogue.tools());
    tools.keySet().removeIf(tool -> isHeld(all, new Name(DefinitionKind.TOOL, tool)));
    Sha256 digest = new Sha256().add(catalogue.digest()).end();
    all.forEach(
        (name, judgement) -> {
          if (judgement.isHeld()) {
            digest.add(name.kind().word()).end().add(name.text()).end();
          }
        });
    Catalogue offered =
        new Catalogue(
            tools,
            catalogue.resources(),
            offered(all, DefinitionKind.TEMPLATE, catalogue.templates()),
            offered(all, DefinitionKind.PROMPT, catalogue.prompts()),
            catalogue.omitted(),
            catalogue.warnings(),
            digest.hex(32));
    ServerIdentity identity = server.identity();
    return server.offering(
        offered,
        isHeld(all, new Name(DefinitionKind.INSTRUCTIONS, ""))
            ? identity.withoutInstructions()
            : identity);
  }

  private static List<JsonSlice> offered(
      Map<Name, Judgement> all, DefinitionKind kind, List<JsonSlice> entries) {
    return entries.stream()
        .filter(entry -> !isHeld(all, new Name(kind, Definition.nameOf(kind, entry))))
        .toList();
  }

  private static boolean isHeld(Map<Name, Judgement> all, Name name) {
    Judgement judgement = all.get(name);
    return judgement != null && judgement.isHeld();
  }

  /** What is held under a name, if it is. */
  public Optional<Judgement> held(Name name) {
    return Optional.ofNullable(all.get(name)).filter(Judgement::isHeld);
  }

  /** How many definitions are in each state that occurs. */
  public SortedMap<State, Long> counts() {
    return all.values().stream()
        .collect(Collectors.groupingBy(Judgement::state, TreeMap::new, Collectors.counting()));
  }

  /** How many definitions are held. */
  public long held() {
    return all.values().stream().filter(Judgement::isHeld).count();
  }

  /** One digest for all definitions of the server. */
  public String digest() {
    Sha256 digest = Sha256.of("mcp-bridge/pins/1").end();
    new TreeMap<>(all)
        .values().stream()
            .filter(judgement -> judgement.digest() != null)
            .forEach(judgement -> digest.add(judgement.digest()).end());
    return "sha256:" + digest.hex();
  }
}
