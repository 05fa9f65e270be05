import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two demo servers that do not speak MCP: an HTTP API with an OpenAPI document,
 * and an executor of OpenAI-style function calls. {@code java src/demo/agent/WeatherServer.java}; it
 * needs no network, since its weather is the average one of the place and the season.
 */
public final class WeatherServer {
  private static final int PORT = 4010;
  private static final String DOCUMENT =
      """
      {"openapi": "3.1.0",
       "info": {"title": "Average weather", "version": "1"},
       "servers": [{"url": "http://127.0.0.1:%d"}],
       "paths": {"/forecast/{latitude}": {"get": {
         "operationId": "forecast",
         "summary": "The average temperature at a latitude, today or on a day.",
         "parameters": [
           {"name": "latitude", "in": "path", "required": true,
            "schema": {"type": "number", "minimum": -90, "maximum": 90}},
           {"name": "date", "in": "query", "schema": {"type": "string", "format": "date"}}],
         "responses": {"200": {"description": "The weather", "content": {"application/json": {
           "schema": {"type": "object",
             "properties": {"date": {"type": "string"}, "celsius": {"type": "number"}},
             "required": ["date", "celsius"]}}}}}}}}}
      """
          .formatted(PORT);
  private static final Pattern CALL =
      Pattern.compile("\"id\":\"([^\"]+)\".*?celsius[^0-9-]*(-?[0-9.]+)", Pattern.DOTALL);

  private WeatherServer() {}

  public static void main(String[] args) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", PORT), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/openapi.json", exchange -> answer(exchange, DOCUMENT));
    server.createContext("/forecast/", exchange -> answer(exchange, forecast(exchange)));
    server.createContext("/functions", exchange -> answer(exchange, functions(exchange)));
    server.start();
    System.out.println("weather and functions at http://127.0.0.1:" + PORT);
  }

  private static String forecast(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    String query = exchange.getRequestURI().getQuery();
    double latitude = Double.parseDouble(path.substring("/forecast/".length()));
    LocalDate date =
        query != null && query.startsWith("date=")
            ? LocalDate.parse(query.substring("date=".length()))
            : LocalDate.now();
    double season = Math.cos((date.getDayOfYear() - 200) / 365.0 * 2 * Math.PI);
    double celsius = 27 - Math.abs(latitude) * 0.45 + season * latitude * 0.2;
    return String.format(Locale.ROOT, "{\"date\":\"%s\",\"celsius\":%.1f}", date, celsius);
  }

  /** Answers each call of {@code fahrenheit}. */
  private static String functions(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    StringBuilder responses = new StringBuilder();
    Matcher call = CALL.matcher(body);
    while (call.find()) {
      double fahrenheit = Double.parseDouble(call.group(2)) * 9 / 5 + 32;
      responses
          .append(responses.isEmpty() ? "" : ",")
          .append("{\"tool_call_id\":\"" + call.group(1) + "\",\"output\":{\"result\":\"")
          .append(String.format(Locale.ROOT, "%.1f", fahrenheit))
          .append("\"}}");
    }
    return "{\"tool_responses\":[" + responses + "]}";
  }

  private static void answer(HttpExchange exchange, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
