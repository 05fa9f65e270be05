package dev.mcpbridge.search;

import dev.mcpbridge.model.Tool;
import dev.mcpbridge.protocol.JsonObjects;
import dev.mcpbridge.protocol.JsonSlice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * A full-text index of tools in memory, ranked by BM25: a word in a name counts more than one in a
 * description, and that more than one in a parameter; a beginning of a word counts less than the
 * word, and one with a typing error still a little. The tool that has the whole query as its name
 * is the first. Immutable; making and asking it blocks for a short time.
 */
public final class ToolIndex {
  private static final int MAX_WORDS = 32;
  private static final int MAX_MISTYPED = 40;
  private static final int MAX_NAME = 1_000;
  private static final float NAMED = 10_000f;
  private static final String EXACT = "exact";
  private static final Map<String, Float> FIELDS =
      Map.of("name", 4f, "title", 2f, "description", 1f, "parameters", 0.7f);

  private static final Analyzer ANALYZER = new StandardAnalyzer();

  private final IndexSearcher searcher;

  private ToolIndex(IndexSearcher searcher) {
    this.searcher = searcher;
  }

  /**
   * @param tools by the names under which they are to be found
   */
  public static ToolIndex of(Map<String, Tool> tools) {
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(ANALYZER))) {
      for (Map.Entry<String, Tool> tool : tools.entrySet()) {
        writer.addDocument(document(tool.getKey(), tool.getValue()));
      }
      writer.forceMerge(1);
      writer.commit();
      return new ToolIndex(new IndexSearcher(DirectoryReader.open(directory)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Document document(String name, Tool tool) {
    Document document = new Document();
    document.add(new StoredField("id", name));
    document.add(new StringField(EXACT, lower(name), Field.Store.NO));
    document.add(new StringField(EXACT, lower(tool.name()), Field.Store.NO));
    document.add(new TextField("name", words(name), Field.Store.NO));
    document.add(new TextField("title", words(tool.title()), Field.Store.NO));
    document.add(new TextField("description", words(tool.description()), Field.Store.NO));
    document.add(new TextField("parameters", parameters(tool), Field.Store.NO));
    return document;
  }

  private static String parameters(Tool tool) {
    JsonSlice properties =
        tool.inputSchema() == null
            ? null
            : JsonObjects.members(tool.inputSchema()).get("properties");
    return properties == null
        ? ""
        : JsonObjects.members(properties).entrySet().stream()
            .map(each -> words(each.getKey()) + " " + description(each.getValue()))
            .collect(Collectors.joining(" "));
  }

  private static String description(JsonSlice schema) {
    String text = JsonObjects.string(JsonObjects.members(schema).get("description"));
    return text == null ? "" : words(text);
  }

  /** {@code getUserName} and {@code get_user_name} are three words. */
  private static String words(String text) {
    return text.replaceAll("(?<=[\\p{Ll}\\p{N}])(?=\\p{Lu})|(?<=\\p{Lu})(?=\\p{Lu}\\p{Ll})", " ")
        .replaceAll("[^\\p{L}\\p{N}\\p{M}]+", " ");
  }

  private static String lower(String name) {
    String plain = name.strip().toLowerCase(Locale.ROOT);
    return plain.substring(0, Math.min(plain.length(), MAX_NAME));
  }

  /** The names of the best, the very best first. */
  public List<String> search(String text, int limit) {
    List<String> names = new ArrayList<>();
    try {
      for (ScoreDoc found : searcher.search(query(text), limit).scoreDocs) {
        names.add(searcher.storedFields().document(found.doc).get("id"));
      }
      return names;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Split like what is in the index, whatever the script. */
  private static List<String> terms(String text) throws IOException {
    List<String> terms = new ArrayList<>();
    try (TokenStream tokens = ANALYZER.tokenStream("name", words(text))) {
      CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
      tokens.reset();
      while (terms.size() < MAX_WORDS && tokens.incrementToken()) {
        terms.add(term.toString());
      }
    }
    return terms;
  }

  private static Query query(String text) throws IOException {
    BooleanQuery.Builder any = new BooleanQuery.Builder();
    Query named = new ConstantScoreQuery(new TermQuery(new Term(EXACT, lower(text))));
    any.add(boosted(named, NAMED), BooleanClause.Occur.SHOULD);
    for (String word : terms(text)) {
      FIELDS.forEach(
          (field, weight) -> {
            Term term = new Term(field, word);
            any.add(boosted(new TermQuery(term), weight), BooleanClause.Occur.SHOULD);
            any.add(boosted(new PrefixQuery(term), weight / 4), BooleanClause.Occur.SHOULD);
            if (word.length() > 4 && word.length() <= MAX_MISTYPED) {
              any.add(boosted(mistyped(term), weight / 8), BooleanClause.Occur.SHOULD);
            }
          });
    }
    return any.build();
  }

  /** One clause, however many words of the index are near: there is a limit to those of a query. */
  private static Query mistyped(Term term) {
    return new FuzzyQuery(
        term,
        1,
        0,
        FuzzyQuery.defaultMaxExpansions,
        true,
        MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE);
  }

  private static Query boosted(Query query, float weight) {
    return new BoostQuery(query, weight);
  }
}
