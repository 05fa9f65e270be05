import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Writes {@code target/evidence.md}: the pages of promises with what became of each named test in
 * the build before. Fails if one has failed, or has not run, or was skipped; the latter only in CI.
 * Run with {@code java src/build/EvidenceReport.java} after {@code mvn verify}.
 */
final class EvidenceReport {
  private static final List<String> PAGES = List.of("security.md", "evidence.md");
  private static final Pattern TEST = Pattern.compile("`(\\w+(?:IT|Test|Rows))(?:\\.(\\w+))?`");

  /** The results by class and method, by class alone, and by method alone for shared tests. */
  private final Map<String, Result> results = new HashMap<>();

  private final TreeSet<String> unproved = new TreeSet<>();
  private final TreeSet<String> promised = new TreeSet<>();

  /** What became of the runs of a test. */
  private record Result(int passed, int skipped, int failed, double seconds) {
    static final Result NONE = new Result(0, 0, 0, 0);

    Result plus(Result other) {
      return new Result(
          passed + other.passed,
          skipped + other.skipped,
          failed + other.failed,
          seconds + other.seconds);
    }

    boolean isProof(boolean mayBeSkipped) {
      return failed == 0 && (passed > 0 || mayBeSkipped && skipped > 0);
    }

    @Override
    public String toString() {
      List<String> parts = new ArrayList<>();
      if (failed > 0) {
        parts.add(failed + " failed");
      }
      if (passed > 0) {
        parts.add(passed == 1 ? "passed" : passed + " passed");
      }
      if (skipped > 0) {
        parts.add(skipped + " skipped");
      }
      return parts.isEmpty()
          ? "not run"
          : String.join(", ", parts) + String.format(Locale.ROOT, ", %.2f s", seconds);
    }
  }

  public static void main(String[] arguments) throws Exception {
    EvidenceReport report = new EvidenceReport();
    for (String folder : List.of("target/surefire-reports", "target/failsafe-reports")) {
      if (!Files.isDirectory(Path.of(folder))) {
        System.err.println("There are no reports in " + folder + "; run mvn verify first");
        System.exit(1);
      }
      report.read(Path.of(folder));
    }
    report.write(Path.of("target/evidence.md"));
  }

  private void read(Path folder) throws Exception {
    DocumentBuilder parser = DocumentBuilderFactory.newInstance().newDocumentBuilder();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".xml")).sorted().toList()) {
        try (InputStream in = Files.newInputStream(file)) {
          NodeList cases = parser.parse(in).getElementsByTagName("testcase");
          for (int i = 0; i < cases.getLength(); i++) {
            add((Element) cases.item(i));
          }
        }
      }
    }
  }

  /** A test that failed and passed when it was repeated has a {@code flakyFailure}. */
  private void add(Element run) {
    boolean hasFailed = has(run, "failure") || has(run, "error");
    boolean isSkipped = has(run, "skipped");
    Result result =
        new Result(
            hasFailed || isSkipped ? 0 : 1,
            isSkipped ? 1 : 0,
            hasFailed ? 1 : 0,
            Double.parseDouble(run.getAttribute("time").replace(",", "")));
    String className = run.getAttribute("classname").replaceAll(".*\\.", "");
    String method = run.getAttribute("name").replaceAll("\\W.*", "");
    for (String owner : className.split("\\$")) {
      results.merge(owner + "." + method, result, Result::plus);
      results.merge(owner, result, Result::plus);
    }
    results.merge(method, result, Result::plus);
  }

  private static boolean has(Element run, String child) {
    return run.getElementsByTagName(child).getLength() > 0;
  }

  private void write(Path file) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String page : PAGES) {
      for (String line : Files.readAllLines(Path.of("src/docs", page))) {
        text.append(line.startsWith("|") ? withResults(line) : line).append('\n');
      }
      text.append('\n');
    }
    text.insert(0, head());
    Files.writeString(file, text);
    System.out.println(
        file + ": " + (promised.size() - unproved.size()) + " of " + promised.size() + " tests prove their promise");
    if (!unproved.isEmpty()) {
      System.out.println(String.join("\n", unproved));
      System.exit(1);
    }
  }

  private String head() {
    return """
        Of the build of %s on %s, %d processors, Java %s: %d named tests, %d of which prove their promise.
        One of a `Test` is repeated with `mvn test -Dtest=CLASS#METHOD`, another one with `mvn verify -Dit.test=CLASS#METHOD -Dtest=none
        -Dsurefire.failIfNoSpecifiedTests=false`.

        """
        .formatted(
            LocalDate.now(),
            System.getProperty("os.name"),
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("java.version"),
            promised.size(),
            promised.size() - unproved.size());
  }

  private String withResults(String row) {
    return TEST.matcher(row).replaceAll(test -> Matcher.quoteReplacement(withResult(test)));
  }

  private String withResult(MatchResult test) {
    String className = test.group(1);
    String method = test.group(2);
    String name = method == null ? className : className + "." + method;
    Result result =
        results.getOrDefault(
            className.endsWith("Rows") && method != null ? method : name, Result.NONE);
    promised.add(name);
    if (!result.isProof(!"true".equals(System.getenv("CI")))) {
      unproved.add(name + ": " + result);
    }
    return test.group() + " (" + result + ")";
  }
}
