package dev.mcpbridge;

/** The version of this build, from the manifest of its jar. */
public final class Version {
  private Version() {}

  public static String current() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
