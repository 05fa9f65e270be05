package dev.mcpbridge.it.mcp.matrix;

import dev.mcpbridge.fixture.EraClient;
import dev.mcpbridge.fixture.ExactHost;
import dev.mcpbridge.fixture.ExactServer;
import dev.mcpbridge.fixture.NodeFixture;
import dev.mcpbridge.fixture.TestBridge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A bridge in front of two Node.js fixtures, a and b, and two exact servers, x and y, all of one
 * era and transport. Only one world exists at a time; the next upstream replaces it.
 */
public final class World {
  private static World current;
  private static NodeFixture reference;

  private final Combination.Upstream upstream;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final TestBridge bridge;
  private final EraClient direct;

  private World(Combination.Upstream upstream) throws Exception {
    this.upstream = upstream;
    List<NodeFixture> nodes = new ArrayList<>();
    if (!upstream.started()) {
      nodes.add(open(NodeFixture.listening()));
      nodes.add(open(NodeFixture.listening()));
    }
    if (reference == null) {
      reference = NodeFixture.listening();
    }
    List<String> entries = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      entries.add("'" + "ab".charAt(i) + "':" + node(nodes, i));
      entries.add("'" + "xy".charAt(i) + "':" + exact());
    }
    bridge =
        open(
            TestBridge.of(
                "{'profiles':{'everything':{'servers':{'*':{}}}},'mcpServers':{"
                    + String.join(",", entries)
                    + "}}"));
    direct = EraClient.to(reference.uri(), upstream.modern(), "", "{}");
    bridge.awaitReady("a", "b", "x", "y");
  }

  /** Returns the world of an upstream; closes the previous one. */
  public static World of(Combination.Upstream upstream) throws Exception {
    if (current == null || current.upstream != upstream) {
      closeCurrent();
      current = new World(upstream);
    }
    return current;
  }

  /** Closes the current world and the reference server. */
  public static void end() throws Exception {
    closeCurrent();
    if (reference != null) {
      reference.close();
      reference = null;
    }
  }

  private static void closeCurrent() throws Exception {
    if (current != null) {
      current.close();
      current = null;
    }
  }

  private String node(List<NodeFixture> nodes, int i) throws Exception {
    String era = "'era':'" + upstream.era() + "'";
    return switch (upstream) {
      case LEGACY_STDIO, MODERN_STDIO -> NodeFixture.stdio(era);
      case LEGACY_HTTP, MODERN_HTTP -> nodes.get(i).http(era);
      case LEGACY_SSE -> nodes.get(i).sse();
    };
  }

  private String exact() throws Exception {
    String era = "'era':'" + upstream.era() + "'";
    return switch (upstream) {
      case LEGACY_STDIO, MODERN_STDIO -> TestBridge.entry(ExactServer.class, era);
      case LEGACY_HTTP, MODERN_HTTP -> open(new ExactHost()).http(era);
      case LEGACY_SSE -> open(new ExactHost()).sse();
    };
  }

  private <T extends AutoCloseable> T open(T resource) {
    opened.push(resource);
    return resource;
  }

  public TestBridge bridge() {
    return bridge;
  }

  /** A client of the bridge's endpoint that a combination selects for a server. */
  EraClient client(Combination at, String server, String capabilities) throws Exception {
    return EraClient.to(
        bridge.uri(at.path(server)),
        at.stateless(),
        at.aggregated() ? server + "__" : "",
        capabilities);
  }

  /** A client that uses a separate fixture without a bridge, in the era of the upstream. */
  EraClient direct() {
    return direct;
  }

  private void close() throws Exception {
    for (AutoCloseable resource : opened) {
      resource.close();
    }
  }
}
