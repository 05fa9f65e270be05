package dev.mcpbridge.it.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.HttpSseClient;
import dev.mcpbridge.fixture.McpClient;
import dev.mcpbridge.fixture.TestBridge.Answer;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A place where tools are listed and called, for the tests of rules. */
enum RuleDoor {
  REST {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      Answer tools = it.get(key, "/servers/s/tools");
      return tools.status() == 404 ? Set.of() : RulesIT.names(tools.body().path("tools"), "name");
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      return isRefusal(it.call(key, "s", tool, "{}").status());
    }
  },
  TOOLS {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      return RulesIT.names(it.get(key, "/tools").body().path("tools"), "name");
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      String call = "{\"calls\":[{\"server\":\"s\",\"tool\":\"" + tool + "\"}]}";
      return isRefusal(it.post(key, "/batch", call).body().at("/results/0/status").asInt());
    }
  },
  MCP {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      return own(
          RulesIT.names(
              it.client(key, "/mcp")
                  .initialized()
                  .request("tools/list", "{}")
                  .result()
                  .path("tools"),
              "name"));
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      int code = it.client(key, "/mcp").initialized().call("s__" + tool, "{}").errorCode();
      return isRefusal(code);
    }
  },
  MCP_OF_SERVER {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      McpClient.Reply list = it.client(key, "/servers/s/mcp").stateless("tools/list", "");
      return list.last().has("error")
          ? Set.of()
          : RulesIT.names(list.result().path("tools"), "name");
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      int code =
          it.client(key, "/servers/s/mcp")
              .stateless("tools/call", "\"name\":\"" + tool + "\",\"arguments\":{}")
              .errorCode();
      return isRefusal(code);
    }
  },
  SSE {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      try (HttpSseClient client = it.sseClient(key)) {
        JsonNode tools = client.request("tools/list", "{}").at("/result/tools");
        return own(RulesIT.names(tools, "name"));
      }
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      try (HttpSseClient client = it.sseClient(key)) {
        String call = "{\"name\":\"s__" + tool + "\",\"arguments\":{}}";
        return isRefusal(client.request("tools/call", call).at("/error/code").asInt());
      }
    }
  },
  /** Another bridge, which has the key of the caller. */
  FEDERATION {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      Answer tools = it.inFront(key).get("/servers/far/tools");
      return own(RulesIT.names(tools.body().path("tools"), "name"));
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      Answer answer = it.inFront(key).post("/servers/far/tools/s__" + tool, "{}");
      return isRefusal(answer.status());
    }
  },
  TOOLCALL {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      return own(
          it.get(key, "/toolcall/tools")
              .body()
              .path("tools")
              .valueStream()
              .map(entry -> entry.at("/function/name").asText())
              .collect(Collectors.toSet()));
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      String turn =
          "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
              + "\"function\":{\"name\":\"s__%s\",\"arguments\":\"{}\"}}]}";
      Answer answer = it.post(key, "/toolcall", turn.formatted(tool));
      return isRefusal(answer.body().at("/tool_responses/0/status").asInt());
    }
  },
  DOCUMENT {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      Answer document = it.get(key, "/tools/openapi.json");
      return document.body().path("paths").properties().stream()
          .map(path -> path.getKey().replaceAll(".*/", ""))
          .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      return REST.refuses(it, key, tool);
    }
  },
  SEARCH {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      McpClient client = it.client(key, "/mcp?discovery=search").initialized();
      Set<String> found = new TreeSet<>();
      for (String query : List.of("plays", "echo", "big", "exit", "effect")) {
        String arguments = "{\"query\":\"" + query + "\",\"limit\":50}";
        found.addAll(
            RulesIT.names(
                client.call("search_tools", arguments).result().at("/structuredContent/tools"),
                "name"));
      }
      return own(found);
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      McpClient.Reply reply =
          it.client(key, "/mcp?discovery=search")
              .initialized()
              .call("call_tool", "{\"name\":\"s__" + tool + "\",\"arguments\":{}}");
      return reply.errorCode() == 403 || reply.firstText().contains("Unknown tool");
    }
  },
  WHOAMI {
    @Override
    Set<String> lists(RulesIT it, String key) throws Exception {
      return it.get(key, "/whoami")
          .body()
          .path("may_use")
          .valueStream()
          .flatMap(server -> server.path("tools").valueStream())
          .map(JsonNode::asText)
          .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    boolean refuses(RulesIT it, String key, String tool) throws Exception {
      return REST.refuses(it, key, tool);
    }
  };

  abstract Set<String> lists(RulesIT it, String key) throws Exception;

  abstract boolean refuses(RulesIT it, String key, String tool) throws Exception;

  static boolean isRefusal(int status) {
    return status == 403 || status == 404 || status == -32602;
  }

  private static Set<String> own(Set<String> qualified) {
    return qualified.stream()
        .map(name -> name.replaceFirst("^[st]__", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
