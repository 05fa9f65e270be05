package dev.mcpbridge.gitserver;
public final class GitServer {
  public GitServer(java.util.List<java.nio.file.Path> roots) {}
  public void serve(java.io.InputStream in, java.io.PrintStream out) {}
}
