package dev.mcpbridge.config;

import dev.mcpbridge.model.Glob;
import dev.mcpbridge.profile.Parameter;
import dev.mcpbridge.profile.Profile;
import dev.mcpbridge.profile.Profiles;
import dev.mcpbridge.profile.ToolShape;
import dev.mcpbridge.protocol.Json;
import dev.mcpbridge.protocol.JsonSlice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the section {@code profiles}. */
final class ProfileReader {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  /** What names of tools with their servers look like, which must stay free. */
  private static final Pattern QUALIFIED = Pattern.compile(".*__.*|.*_[0-9a-f]{12}");

  private ProfileReader() {}

  static Profiles read(Section root) {
    Section profiles = root.section("profiles").withoutNulls();
    Map<String, Profile> byName = new LinkedHashMap<>();
    for (String name : profiles.names()) {
      if (!NAME.matcher(name).matches()) {
        profiles.report(name, "a name has 1 to 64 letters, digits, underscores and hyphens");
      }
      byName.put(name, profile(name, profiles.section(name)));
    }
    return new Profiles(byName);
  }

  private static Profile profile(String name, Section profile) {
    Section servers = profile.section("servers").withoutNulls();
    if (!profile.has("servers")) {
      profile.report("servers", "is required");
    }
    List<Profile.Part> parts = new ArrayList<>();
    Set<String> toolNames = new HashSet<>();
    for (String pattern : servers.names()) {
      Section part = servers.section(pattern).withoutNulls();
      parts.add(
          new Profile.Part(
              new Glob(pattern),
              AccessReader.items(part, List.of()),
              shapes(part, new Glob(pattern).isExact(), toolNames)));
    }
    return new Profile(name, profile.text("instructions"), parts);
  }

  /**
   * @param isOneServer whether it is about one server only
   * @param toolNames that other tools of the profile have already
   */
  private static Map<String, ToolShape> shapes(
      Section part, boolean isOneServer, Set<String> toolNames) {
    Map<String, ToolShape> shapes = new LinkedHashMap<>();
    Section overrides = part.section("overrides").withoutNulls();
    for (String tool : overrides.names()) {
      Section override = overrides.section(tool).withoutNulls();
      String name = override.text("name");
      if (name != null && QUALIFIED.matcher(name).matches()) {
        override.report("name", "looks like the name of a tool with its server");
      }
      if (name != null && !isOneServer) {
        override.report("name", "would be that of tools of several servers: name the server");
      }
      if (name != null && !toolNames.add(name)) {
        override.report("name", "another tool of the profile already has this name");
      }
      shapes.put(tool, new ToolShape(name, override.text("description"), parameters(override)));
    }
    return shapes;
  }

  private static Map<String, Parameter> parameters(Section override) {
    Map<String, Parameter> parameters = new LinkedHashMap<>();
    Section section = override.section("parameters").withoutNulls();
    for (String name : section.names()) {
      parameters.put(name, parameter(section.section(name).withoutNulls()));
    }
    return parameters;
  }

  private static Parameter parameter(Section parameter) {
    boolean isFixed = parameter.has("value");
    boolean isHidden = parameter.flag("hidden");
    if (isFixed && parameter.has("default")) {
      parameter.report("default", "has no effect beside value, which is always sent");
    }
    if (isHidden && parameter.has("default")) {
      parameter.report("default", "cannot be changed if it is hidden: use value");
    }
    if ((isFixed || isHidden) && parameter.has("description")) {
      parameter.report("description", "is not shown, because the parameter is not");
    }
    if (parameter.names().isEmpty()) {
      parameter.report("", "expected value, default, hidden or description");
    }
    return new Parameter(
        !isFixed && !isHidden,
        isFixed ? slice(parameter, "value") : slice(parameter, "default"),
        parameter.text("description"));
  }

  /** A value of any type; null if it is absent. */
  private static JsonSlice slice(Section parameter, String key) {
    return parameter.has(key) ? Json.slice(parameter.json(key)) : null;
  }
}
