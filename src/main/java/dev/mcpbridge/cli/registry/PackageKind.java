package dev.mcpbridge.cli.registry;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How packages of one kind are run, and named in one version.
 *
 * @param programs those that run it, the usual one first
 * @param first their first arguments
 * @param identifier what names of packages look like
 */
record PackageKind(List<String> programs, List<String> first, Pattern identifier) {
  private static final Map<String, PackageKind> KINDS =
      Map.of(
          "npm",
          new PackageKind(
              List.of("npx"),
              List.of("-y"),
              Pattern.compile("(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][A-Za-z0-9._~-]*")),
          "pypi",
          new PackageKind(List.of("uvx"), List.of(), Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*")),
          "nuget",
          new PackageKind(
              List.of("dnx"), List.of("--yes"), Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*")),
          "oci",
          new PackageKind(
              List.of("docker", "podman"),
              List.of("run", "-i", "--rm"),
              Pattern.compile("[a-z0-9][A-Za-z0-9._/:-]*(@sha256:[0-9a-f]{64})?")));

  private static final Pattern VERSION = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._+-]{0,127}");
  private static final Pattern HOST = Pattern.compile("https://([A-Za-z0-9.-]+(:\\d+)?)/?");

  /** The kind of a type of package; null for one that cannot be run. */
  static PackageKind of(String type) {
    return KINDS.get(type);
  }

  boolean isImage() {
    return programs.contains("docker");
  }

  /** A package in its version. */
  String reference(JsonNode used) {
    String name = used.path("identifier").asText();
    String version = used.path("version").asText();
    if (!identifier.matcher(name).matches()) {
      throw EntryWriter.refused("'" + RegistryServer.line(name) + "' is not the name of a package");
    }
    return isImage() ? host(used, name) + image(name, version) : name + "@" + pinned(version);
  }

  /** A tag or a digest may be part of the name already. */
  private static String image(String name, String version) {
    String last = name.substring(name.lastIndexOf('/') + 1);
    int tag = last.indexOf(':');
    if (last.contains("@sha256:")) {
      return name;
    }
    if (tag >= 0) {
      pinned(last.substring(tag + 1));
      return name;
    }
    return name + ":" + pinned(version);
  }

  /** The host of an image that names none, followed by a slash; empty for that of the engine. */
  private static String host(JsonNode used, String name) {
    String url = used.path("registryBaseUrl").asText("");
    String first = name.contains("/") ? name.substring(0, name.indexOf('/')) : "";
    if (url.isEmpty() || first.contains(".") || first.contains(":")) {
      return "";
    }
    Matcher host = HOST.matcher(url);
    if (!host.matches()) {
      throw EntryWriter.refused("'" + RegistryServer.line(url) + "' is no registry of images");
    }
    return host.group(1) + "/";
  }

  private static String pinned(String version) {
    if (!VERSION.matcher(version).matches() || version.equals("latest")) {
      throw EntryWriter.refused(
          "'" + RegistryServer.line(version) + "' is not one version of a package");
    }
    return version;
  }
}
