package dev.mcpbridge.it.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.mcpbridge.fixture.HttpSseClient;
import dev.mcpbridge.fixture.TestBridge;
import dev.mcpbridge.fixture.TestBridge.Answer;

/** A place where the resource and the prompt of a server are listed and read. */
enum ItemDoor {
  REST {
    @Override
    JsonNode list(RulesIT it, String key, Kind kind) throws Exception {
      return it.get(key, "/servers/s/" + kind.list).body();
    }

    @Override
    boolean refuses(RulesIT it, String key, Kind kind) throws Exception {
      Answer answer =
          kind == Kind.RESOURCE
              ? it.get(key, "/servers/s/resources/test%3A%2F%2Fa%20b%2525")
              : it.post(key, "/servers/s/prompts/greet", "{}");
      return RuleDoor.isRefusal(answer.status());
    }
  },
  SESSION {
    @Override
    JsonNode list(RulesIT it, String key, Kind kind) throws Exception {
      return it.client(key, "/mcp").initialized().request(kind.list + "/list", "{}").result();
    }

    @Override
    boolean refuses(RulesIT it, String key, Kind kind) throws Exception {
      return isRefusal(
          it.client(key, "/mcp").initialized().request(kind.method, kind.params("s__")).last());
    }
  },
  STATELESS {
    @Override
    JsonNode list(RulesIT it, String key, Kind kind) throws Exception {
      return it.client(key, "/servers/s/mcp").stateless(kind.list + "/list", "").last();
    }

    @Override
    boolean refuses(RulesIT it, String key, Kind kind) throws Exception {
      String params = kind.params("");
      return isRefusal(
          it.client(key, "/servers/s/mcp")
              .stateless(kind.method, params.substring(1, params.length() - 1))
              .last());
    }
  },
  SSE {
    @Override
    JsonNode list(RulesIT it, String key, Kind kind) throws Exception {
      try (HttpSseClient client = it.sseClient(key)) {
        return client.request(kind.list + "/list", "{}");
      }
    }

    @Override
    boolean refuses(RulesIT it, String key, Kind kind) throws Exception {
      try (HttpSseClient client = it.sseClient(key)) {
        return isRefusal(client.request(kind.method, kind.params("s__")));
      }
    }
  },
  /** Another bridge, which has the key of the caller. */
  FEDERATION {
    @Override
    JsonNode list(RulesIT it, String key, Kind kind) throws Exception {
      return it.inFront(key).get("/servers/far/" + kind.list).body();
    }

    @Override
    boolean refuses(RulesIT it, String key, Kind kind) throws Exception {
      TestBridge front = it.inFront(key);
      Answer answer =
          kind == Kind.RESOURCE
              ? front.get("/servers/far/resources/test%3A%2F%2Fa%20b%2525")
              : front.post("/servers/far/prompts/s__greet", "{}");
      int code = answer.body().at("/upstream/code").asInt();
      return RuleDoor.isRefusal(answer.status()) || RuleDoor.isRefusal(code);
    }
  };

  /** What a server has beside tools. */
  enum Kind {
    RESOURCE("resources", "resources/read", "{\"uri\":\"%stest://a b%%25\"}"),
    PROMPT("prompts", "prompts/get", "{\"name\":\"%sgreet\"}");

    private final String list;
    private final String method;
    private final String params;

    Kind(String list, String method, String params) {
      this.list = list;
      this.method = method;
      this.params = params;
    }

    /** Prompts are named by their server, resources by their URI. */
    private String params(String prefix) {
      return params.formatted(this == PROMPT ? prefix : "");
    }
  }

  /** Something with the list, or without it if the caller may not see the server. */
  abstract JsonNode list(RulesIT it, String key, Kind kind) throws Exception;

  abstract boolean refuses(RulesIT it, String key, Kind kind) throws Exception;

  boolean lists(RulesIT it, String key, Kind kind) throws Exception {
    JsonNode answer = list(it, key, kind);
    return !answer.path("result").path(kind.list).isEmpty() || !answer.path(kind.list).isEmpty();
  }

  private static boolean isRefusal(JsonNode response) {
    return RuleDoor.isRefusal(response.at("/error/code").asInt());
  }
}
