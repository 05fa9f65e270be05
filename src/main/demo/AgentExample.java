import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.agent.Human;
import dev.mcpbridge.llm.Endpoint;
import dev.mcpbridge.llm.Provider;
import java.net.URI;
import java.time.Duration;

class AgentExample {
  public static void main(String[] args) throws InterruptedException {
    Endpoint endpoint =
        new Endpoint(
            URI.create(args[0]), // https://api.openai.com/v1, http://127.0.0.1:11434/v1, …
            System.getenv("OPENAI_API_KEY"), args[1], Duration.ofSeconds(120), 0);
    String bridge = args.length > 2 ? args[2] : "http://127.0.0.1:3000";
    BridgeTools tools = new BridgeTools(URI.create(bridge), null);
    Human human = call -> call.tool().equals("git_commit") ? Human.Decision.YES : Human.Decision.NO;
    Agent agent = new Agent(Provider.OPENAI.at(endpoint), tools, human);
    System.out.println(agent.ask("Which repositories are there?").text());
    System.out.println(agent.ask("Commit what is staged in the first one.").text());
  }
}
