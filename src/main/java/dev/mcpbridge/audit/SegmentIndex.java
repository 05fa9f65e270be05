package dev.mcpbridge.audit;

import dev.mcpbridge.file.PrivateFile;
import dev.mcpbridge.model.AuditQuery;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.LongField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SegmentInfos;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortedNumericSelector;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.NIOFSDirectory;

/**
 * The index of a file of the trail that is complete: where the records are that a query may match.
 * It is made when it is first needed, and may be deleted at any time. Stateless; blocks.
 */
final class SegmentIndex {
  private static final Logger LOG = System.getLogger(SegmentIndex.class.getName());
  private static final String FOLDER = "index";
  private static final String SEQ = "seq";
  private static final String AT = "at";
  private static final String OFFSET = "offset";
  private static final String INDEXED = "indexed";

  private SegmentIndex() {}

  private static Path folder(Path segment) {
    String name = segment.getFileName().toString().replace(Segments.EXTENSION, "");
    return segment.resolveSibling(FOLDER).resolve(name);
  }

  /**
   * Where the records of a file are that match, the newest first.
   *
   * @return at most as many offsets as the query wants records
   */
  static List<Long> find(Path segment, AuditQuery query) throws IOException {
    Path folder = folder(segment);
    PrivateFile.createFolder(folder);
    try (Directory directory = new NIOFSDirectory(folder)) {
      if (!isOf(segment, directory)) {
        create(segment, directory);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        return find(reader, query);
      }
    }
  }

  /**
   * Whether there is an index of this very file, and not of an earlier one with its name, with all
   * members that can be searched.
   */
  private static boolean isOf(Path segment, Directory directory) throws IOException {
    return DirectoryReader.indexExists(directory)
        && stamp(segment)
            .equals(SegmentInfos.readLatestCommit(directory).getUserData().get(INDEXED));
  }

  private static String stamp(Path segment) throws IOException {
    return Files.size(segment)
        + " "
        + Files.getLastModifiedTime(segment).toMillis()
        + " "
        + AuditQuery.MEMBERS;
  }

  private static List<Long> find(DirectoryReader reader, AuditQuery query) throws IOException {
    Sort newestFirst = new Sort(LongField.newSortField(SEQ, true, SortedNumericSelector.Type.MIN));
    ScoreDoc[] found =
        new IndexSearcher(reader).search(query(query), query.limit(), newestFirst).scoreDocs;
    List<Long> offsets = new ArrayList<>();
    for (ScoreDoc each : found) {
      Document document = reader.storedFields().document(each.doc);
      offsets.add(document.getField(OFFSET).numericValue().longValue());
    }
    return offsets;
  }

  private static BooleanQuery query(AuditQuery query) {
    BooleanQuery.Builder all =
        new BooleanQuery.Builder()
            .add(LongField.newRangeQuery(SEQ, Long.MIN_VALUE, query.before() - 1), Occur.FILTER)
            .add(
                LongField.newRangeQuery(AT, query.sinceMillis(), query.untilMillis() - 1),
                Occur.FILTER);
    for (Map.Entry<String, String> each : query.members().entrySet()) {
      all.add(new TermQuery(new Term(each.getKey(), each.getValue())), Occur.FILTER);
    }
    if (query.principal() != null) {
      BooleanQuery.Builder by = new BooleanQuery.Builder();
      for (String member : AuditQuery.PRINCIPALS) {
        by.add(new TermQuery(new Term(member, query.principal())), Occur.SHOULD);
      }
      all.add(by.build(), Occur.FILTER);
    }
    return all.build();
  }

  private static void create(Path segment, Directory directory) throws IOException {
    IndexWriterConfig config =
        new IndexWriterConfig().setOpenMode(IndexWriterConfig.OpenMode.CREATE);
    List<String> members = new ArrayList<>(AuditQuery.MEMBERS);
    members.addAll(AuditQuery.PRINCIPALS);
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      AuditReader.read(
          segment,
          0,
          line -> {
            writer.addDocument(document(line, members));
            return true;
          });
      writer.forceMerge(1);
      writer.setLiveCommitData(Map.of(INDEXED, stamp(segment)).entrySet());
    }
  }

  private static Document document(AuditReader.Line line, List<String> members) {
    Document document = new Document();
    document.add(new LongField(SEQ, line.seq(), Field.Store.NO));
    document.add(new LongField(AT, line.atMillis(), Field.Store.NO));
    document.add(new StoredField(OFFSET, line.offset()));
    for (String member : members) {
      String text = line.record().path(member).textValue();
      if (text != null) {
        document.add(new StringField(member, text, Field.Store.NO));
      }
    }
    return document;
  }

  /** Size of the index of a file in bytes; 0 without one. */
  static long size(Path segment) {
    return contents(folder(segment)).stream().mapToLong(file -> file.toFile().length()).sum();
  }

  /**
   * Deletes the indexes of files that are gone. What cannot be deleted, since a search uses it, is
   * deleted the next time.
   */
  static void deleteOrphans(Path trail) {
    for (Path index : contents(trail.resolve(FOLDER))) {
      if (!Files.exists(trail.resolve(index.getFileName() + Segments.EXTENSION))) {
        delete(index);
      }
    }
  }

  /** Deletes the index of a file, as far as possible. */
  static void discard(Path segment) {
    delete(folder(segment));
  }

  private static void delete(Path index) {
    try {
      for (Path file : contents(index)) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(index);
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the index {0} cannot be deleted: {1}", index, e.toString());
    }
  }

  /** The files of a folder; empty if they cannot be listed. */
  private static List<Path> contents(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }
}
