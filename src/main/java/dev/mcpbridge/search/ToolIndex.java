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
 * An in-memory full-text index of tools, ranked by BM25. A term in a name ranks higher than in a
 * description, and that higher than in a parameter; a prefix match ranks lower than a full match,
 * and a match with a typing error lowest. A tool whose name equals the whole query is first.
 * Immutable; creating and searching it blocks for a short time.
 */
public final class ToolIndex {
  private static final int MAX_WORDS = 32;
  private static final int MAX_FUZZY_CHARS = 40;
  private static final int MAX_NAME_CHARS = 1_000;
  private static final float EXACT_BOOST = 10_000f;
  private static final String EXACT = "exact";
  private static final Map<String, Float> FIELDS =
      Map.of("name", 4f, "title", 2f, "description", 1f, "parameters", 0.7f);

  private static final Analyzer ANALYZER = new StandardAnalyzer();

  private final IndexSearcher searcher;

  private ToolIndex(IndexSearcher searcher) {
    this.searcher = searcher;
  }

  /**
   * @param tools by the names that the search returns
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

  /** Splits {@code getUserName} and {@code get_user_name} into three words each. */
  private static String words(String text) {
    return text.replaceAll("(?<=[\\p{Ll}\\p{N}])(?=\\p{Lu})|(?<=\\p{Lu})(?=\\p{Lu}\\p{Ll})", " ")
        .replaceAll("[^\\p{L}\\p{N}\\p{M}]+", " ");
  }

  private static String lower(String name) {
    String plain = name.strip().toLowerCase(Locale.ROOT);
    return plain.substring(0, Math.min(plain.length(), MAX_NAME_CHARS));
  }

  /** The names of the best matches, best first. */
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

  /** Splits a query with the analyzer of the index, for any script. */
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
    Query exact = new ConstantScoreQuery(new TermQuery(new Term(EXACT, lower(text))));
    any.add(boosted(exact, EXACT_BOOST), BooleanClause.Occur.SHOULD);
    for (String word : terms(text)) {
      FIELDS.forEach(
          (field, weight) -> {
            Term term = new Term(field, word);
            any.add(boosted(new TermQuery(term), weight), BooleanClause.Occur.SHOULD);
            any.add(boosted(new PrefixQuery(term), weight / 4), BooleanClause.Occur.SHOULD);
            if (word.length() > 4 && word.length() <= MAX_FUZZY_CHARS) {
              any.add(boosted(fuzzy(term), weight / 8), BooleanClause.Occur.SHOULD);
            }
          });
    }
    return any.build();
  }

  /**
   * A single clause for all similar terms of the index, since the clauses of a query are limited.
   */
  private static Query fuzzy(Term term) {
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
