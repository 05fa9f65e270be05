import dev.mcpbridge.agent.Agent;
import dev.mcpbridge.agent.BridgeTools;
import dev.mcpbridge.agent.Approver;
import dev.mcpbridge.llm.ModelEndpoint;
import dev.mcpbridge.llm.Provider;
import java.net.URI;
import java.time.Duration;

class AgentExample {
  public static void main(String[] args) throws InterruptedException {
    ModelEndpoint endpoint =
        new ModelEndpoint(
            URI.create(args[0]), // https://api.openai.com/v1, http://127.0.0.1:11434/v1, …
            System.getenv("OPENAI_API_KEY"), args[1], Duration.ofSeconds(120), 0);
    String bridge = args.length > 2 ? args[2] : "http://127.0.0.1:3000";
    BridgeTools tools = new BridgeTools(URI.create(bridge), null);
    Approver approver = call -> call.tool().equals("git_commit") ? Approver.Decision.YES : Approver.Decision.NO;
    Agent agent = new Agent(Provider.OPENAI.at(endpoint), tools, approver);
    System.out.println(agent.ask("Which repositories are there?").text());
    System.out.println(agent.ask("Commit what is staged in the first one.").text());
  }
}
