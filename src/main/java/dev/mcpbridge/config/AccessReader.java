package dev.mcpbridge.config;

import dev.mcpbridge.access.AccessRules;
import dev.mcpbridge.access.AccessRules.Concealment;
import dev.mcpbridge.access.Action;
import dev.mcpbridge.access.Condition;
import dev.mcpbridge.access.Effect;
import dev.mcpbridge.access.Item;
import dev.mcpbridge.access.Items;
import dev.mcpbridge.access.Names;
import dev.mcpbridge.access.Rule;
import dev.mcpbridge.access.Who;
import dev.mcpbridge.model.RiskLevel;
import dev.mcpbridge.model.ServerId;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads the {@code access} section. */
final class AccessReader {
  /** The keys of bridges that commands start for themselves. */
  private static final List<String> OWN_KEYS = List.of("stdio", "agent");

  private AccessReader() {}

  /**
   * @param isPresent whether the section exists, even without keys
   */
  static AccessRules read(Section access, boolean isPresent) {
    if (!isPresent) {
      return AccessRules.NONE;
    }
    List<Rule> rules = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Section section : access.sections("rules")) {
      Rule rule = rule(section.withoutNulls());
      if (!names.add(rule.name())) {
        section.report("name", "another rule already has this name");
      }
      rules.add(rule);
    }
    return new AccessRules(
        access.text("mode").equals("enforce"),
        access.text("default").equals("allow"),
        Concealment.valueOf(access.text("conceal").toUpperCase(Locale.ROOT)),
        access.text("explain").equals("full"),
        access.text("contact"),
        List.copyOf(rules));
  }

  private static Rule rule(Section rule) {
    boolean isAllowing = rule.has("allow");
    if (isAllowing == rule.has("deny")) {
      rule.report("", "expected either allow or deny");
    }
    if (!isAllowing && (rule.has("needs") || rule.has("risk"))) {
      rule.report("", "needs and risk are only for rules with allow");
    }
    if (rule.texts("allow").equals(List.of("list")) && rule.has("arguments")) {
      rule.report("arguments", "are not known when a list is made: allow a use, too");
    }
    if (rule.has("arguments") && rule.section("arguments").names().isEmpty()) {
      rule.report("arguments", "expected at least one condition");
    }
    return new Rule(
        rule.text("name", ""),
        new Effect(
            isAllowing,
            rule.texts(isAllowing ? "allow" : "deny").stream()
                .map(Action::of)
                .collect(Collectors.toUnmodifiableSet()),
            Set.copyOf(rule.texts("needs")),
            rule.has("risk") ? RiskLevel.of(rule.integer("risk", 1)).orElse(null) : null),
        who(rule.section("who")),
        items(rule, ConditionReader.ofAnnotations(rule.section("annotations"))),
        ConditionReader.ofArguments(rule.section("arguments")));
  }

  /**
   * Requires that a rule allows by annotations only where a changed or new definition is held: they
   * come from the server, which may change them.
   */
  static void requirePins(
      Section access, AccessRules rules, PinsConfig pins, Set<ServerId> servers) {
    for (int i = 0; i < rules.rules().size(); i++) {
      Rule rule = rules.rules().get(i);
      if (!rule.effect().isAllowing() || rule.items().annotations().isEmpty()) {
        continue;
      }
      List<String> loose =
          servers.stream()
              .filter(server -> rule.items().servers().contain(server.name()))
              .filter(server -> !pins.of(server).holdsAll())
              .map(ServerId::name)
              .toList();
      boolean isAboutKnownOnes =
          rule.items().servers().areExact()
              && servers.stream()
                  .map(ServerId::name)
                  .collect(Collectors.toSet())
                  .containsAll(rule.items().servers().exact());
      if (!loose.isEmpty() || !isAboutKnownOnes && !pins.rules().holdsAll()) {
        access.report(
            "rules[" + i + "].annotations",
            "come from the server, which may change them: a rule allows by them only"
                + " where pins have changed: block and new: block"
                + (loose.isEmpty() ? "" : ", unlike " + String.join(", ", loose)));
      }
    }
  }

  static Who who(Section who) {
    if (who.withoutNulls().node().isObject() && who.names().isEmpty()) {
      who.report("", "expected at least one key; omit it for everybody");
    }
    return new Who(
        who.globs("principals"),
        Set.copyOf(who.texts("issuers")),
        Set.copyOf(who.texts("clients")),
        Set.copyOf(who.texts("roles")),
        Set.copyOf(who.texts("scopes")),
        Set.copyOf(who.texts("keys")),
        credential(who));
  }

  private static Who.Credential credential(Section who) {
    if (who.flag("authenticated") && who.flag("anonymous")) {
      who.report("", "expected authenticated or anonymous; no caller is both");
    }
    if (who.flag("authenticated")) {
      return Who.Credential.REQUIRED;
    }
    return who.flag("anonymous") ? Who.Credential.FORBIDDEN : Who.Credential.UNIMPORTANT;
  }

  /** The servers and the names of their entries. */
  static Items items(Section rule, List<Condition> annotations) {
    Names servers = rule.has("servers") ? names(rule, "servers") : Names.ALL;
    return new Items(servers, names(rule), annotations);
  }

  private static Map<Item.Kind, Names> names(Section rule) {
    Map<Item.Kind, Names> names = new EnumMap<>(Item.Kind.class);
    if (rule.has("tools")) {
      names.put(Item.Kind.TOOL, names(rule, "tools"));
    }
    if (rule.has("resources")) {
      names.put(Item.Kind.RESOURCE, names(rule, "resources"));
      names.put(Item.Kind.TEMPLATE, names(rule, "resources"));
    }
    if (rule.has("prompts")) {
      names.put(Item.Kind.PROMPT, names(rule, "prompts"));
    }
    return Map.copyOf(names);
  }

  private static Names names(Section rule, String key) {
    return Names.of(rule.texts(key));
  }

  /** Reports rules that can have no effect. */
  static void warn(
      AccessRules access, AuthConfig auth, Set<String> servers, List<ConfigProblem> warnings) {
    Set<String> keys = new HashSet<>(OWN_KEYS);
    auth.keys().forEach(key -> keys.add(key.name()));
    Set<String> issuers =
        auth.issuers().stream().map(AuthConfig.Issuer::name).collect(Collectors.toSet());
    for (Rule rule : access.rules()) {
      String path = "access.rules." + rule.name();
      unknown(rule.items().servers().exact(), servers)
          .forEach(name -> warn(warnings, path, "server", name));
      unknown(rule.who().keys(), keys).forEach(name -> warn(warnings, path, "API key", name));
      unknown(rule.who().issuers(), issuers).forEach(name -> warn(warnings, path, "issuer", name));
      access.rules().stream()
          .filter(rule::isShadowedBy)
          .findFirst()
          .ifPresent(
              other ->
                  warnings.add(
                      new ConfigProblem(
                          path, "never applies: the rule " + other.name() + " denies the same")));
      if (!rule.hasEffect()) {
        warnings.add(
            new ConfigProblem(path, "never applies: its actions are not those of what it names"));
      }
    }
  }

  private static Set<String> unknown(Set<String> names, Set<String> known) {
    return names.stream().filter(name -> !known.contains(name)).collect(Collectors.toSet());
  }

  private static void warn(List<ConfigProblem> warnings, String path, String noun, String name) {
    warnings.add(new ConfigProblem(path, "the configuration has no " + noun + " '" + name + "'"));
  }
}
