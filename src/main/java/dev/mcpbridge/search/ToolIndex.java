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
import java.util.stream.Stream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * A full-text index of tools in memory, ranked by BM25: a word in a name counts more than one in a
 * description, and that more than one in a parameter; a beginning of a word counts less than the
 * word, and one with a typing error still a little. Immutable; making and asking it blocks for a
 * short time.
 */
public final class ToolIndex {
  private static final int MAX_WORDS = 32;
  private static final Map<String, Float> FIELDS =
      Map.of("name", 4f, "title", 2f, "description", 1f, "parameters", 0.7f);

  private final IndexSearcher searcher;

  private ToolIndex(IndexSearcher searcher) {
    this.searcher = searcher;
  }

  /**
   * @param tools by the names under which they are to be found
   */
  public static ToolIndex of(Map<String, Tool> tools) {
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    try (IndexWriter writer =
        new IndexWriter(directory, new IndexWriterConfig(new StandardAnalyzer()))) {
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
    return text.replaceAll("(?<=[a-z0-9])(?=[A-Z])", " ").replace('_', ' ').replace('.', ' ');
  }

  /** The names of the best, the very best first. */
  public List<String> search(String text, int limit) {
    List<String> words =
        Stream.of(words(text).toLowerCase(Locale.ROOT).split("[^\\p{L}\\p{N}]+"))
            .filter(word -> !word.isEmpty())
            .limit(MAX_WORDS)
            .toList();
    List<String> names = new ArrayList<>();
    try {
      for (ScoreDoc found : searcher.search(query(words), limit).scoreDocs) {
        names.add(searcher.storedFields().document(found.doc).get("id"));
      }
      return names;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Query query(List<String> words) {
    BooleanQuery.Builder any = new BooleanQuery.Builder();
    for (String word : words) {
      FIELDS.forEach(
          (field, weight) -> {
            Term term = new Term(field, word);
            any.add(boosted(new TermQuery(term), weight), BooleanClause.Occur.SHOULD);
            any.add(boosted(new PrefixQuery(term), weight / 4), BooleanClause.Occur.SHOULD);
            if (word.length() > 4) {
              any.add(boosted(new FuzzyQuery(term, 1), weight / 8), BooleanClause.Occur.SHOULD);
            }
          });
    }
    return any.build();
  }

  private static Query boosted(Query query, float weight) {
    return new BoostQuery(query, weight);
  }
}
