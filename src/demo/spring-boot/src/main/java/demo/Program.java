package demo;

import dev.mcpbridge.api.BridgeOptions;
import dev.mcpbridge.api.McpBridge;
import dev.mcpbridge.api.springai.BridgeToolCallbackProvider;
import io.vertx.core.Vertx;
import java.util.stream.Stream;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The tools of a bridge for the chat clients of a Spring Boot program, and one of them as a page. */
@SpringBootApplication
public class Program {
  private static final String CONFIG =
      "{\"mcpServers\": {\"git\": {\"builtin\": \"git\", \"args\": [\"--root\", \".\"]}}}";

  public static void main(String[] args) {
    SpringApplication.run(Program.class, args);
  }

  @Bean
  Vertx vertx() {
    return Vertx.vertx();
  }

  @Bean
  McpBridge bridge(Vertx vertx) {
    return McpBridge.start(vertx, BridgeOptions.fromJson(CONFIG)).await();
  }

  @Bean
  ToolCallbackProvider tools(McpBridge bridge) {
    return new BridgeToolCallbackProvider(bridge.tools());
  }

  @RestController
  record Page(ToolCallbackProvider tools) {
    @GetMapping("/repositories")
    String repositories() {
      return Stream.of(tools.getToolCallbacks())
          .filter(tool -> tool.getToolDefinition().name().equals("git__list_repositories"))
          .findFirst().orElseThrow().call("{}");
    }
  }
}
