// A crawler in Java that fetches no page twice: a filter in a file, through the C library and JNA, on machines of 64
// bits. One thread at a time may use an object.
//
//   apt install default-jdk-headless libjna-java
//   java -cp /usr/share/java/jna.jar examples/java/Seen.java
//
// -Djna.library.path=DIRECTORY finds the library where it is not installed.
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

public class Seen implements AutoCloseable {
  // The functions and structs of bloomery/declarations.h that this program uses. size_t is long, bool is byte.
  interface C extends Library {
    C LIBRARY = Native.load("bloomery", C.class);

    Pointer bloomery_open_or_create(String location, Spec spec, Pointer options, Failure error);
    int bloomery_insert(Pointer filter, byte[] key, long size, Failure error);
    long bloomery_contains_offsets32(
        Pointer filter, byte[] keys, int[] offsets, long count, byte[] answers, Failure error);
    int bloomery_close(Pointer filter, Failure error);
    void bloomery_free(Pointer filter);
  }

  @FieldOrder({"code", "text"})
  public static class Failure extends Structure {
    public int code;
    public byte[] text = new byte[508];

    // Returns `result`, unless it says that the call failed.
    long check(long result) {
      if (result < 0) throw new IllegalStateException(Native.toString(text, "UTF-8"));
      return result;
    }
  }

  // Fields that are 0 have their defaults.
  @FieldOrder({"size", "kind", "capacity", "fpr", "bits", "hashes", "layout", "counter_bits", "growth", "window",
               "window_unit", "slices", "delta", "reserved"})
  public static class Spec extends Structure {
    public int size, kind;
    public long capacity;
    public double fpr;
    public long bits;
    public int hashes, layout, counter_bits, growth;
    public long window;
    public int window_unit, slices;
    public long delta;
    public long[] reserved = new long[5];

    Spec(long capacity, double fpr) {
      this.capacity = capacity;
      this.fpr = fpr;
      size = size();
    }
  }

  private Pointer filter;

  Seen(String location, long capacity, double fpr) {
    Failure error = new Failure();
    filter = C.LIBRARY.bloomery_open_or_create(location, new Spec(capacity, fpr), null, error);
    error.check(filter == null ? -1 : 0);
  }

  // Whether the key was certainly not there before.
  boolean insert(String key) {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    Failure error = new Failure();
    return error.check(C.LIBRARY.bloomery_insert(filter, bytes, bytes.length, error)) == 1;
  }

  // One answer per key: 0 is certainly absent. Many keys in one call are several times as fast.
  byte[] contains(List<String> keys) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int[] offsets = new int[keys.size() + 1];
    for (int i = 0; i < keys.size(); ++i) {
      bytes.writeBytes(keys.get(i).getBytes(StandardCharsets.UTF_8));
      offsets[i + 1] = bytes.size();
    }
    byte[] answers = new byte[keys.size()];
    Failure error = new Failure();
    error.check(C.LIBRARY.bloomery_contains_offsets32(
        filter, bytes.toByteArray(), offsets, keys.size(), answers, error));
    return answers;
  }

  // Makes every insert durable. After it the other calls throw.
  @Override
  public void close() {
    if (filter == null) return;
    Failure error = new Failure();
    try {
      error.check(C.LIBRARY.bloomery_close(filter, error));
    } finally {
      C.LIBRARY.bloomery_free(filter);
      filter = null;
    }
  }

  public static void main(String[] arguments) {
    try (Seen seen = new Seen("seen.bloom", 1_000_000, 1e-6)) {
      for (String url : List.of("https://example.org/", "https://example.org/a", "https://example.org/"))
        System.out.println((seen.insert(url) ? "fetch " : "skip ") + url);
    }
    // The file remembers.
    try (Seen seen = new Seen("seen.bloom", 1_000_000, 1e-6)) {
      byte[] there = seen.contains(List.of("https://example.org/a", "https://example.org/b"));
      System.out.println(there[0] + " " + there[1]);
    }
    try (Seen other = new Seen("seen.bloom", 1000, 0.5)) {
      throw new AssertionError("a filter for 1000 keys is another one");
    } catch (IllegalStateException error) {
      System.out.println(error.getMessage());
    }
  }
}

/* Prints:
 * fetch https://example.org/
 * fetch https://example.org/a
 * skip https://example.org/
 * 1 0
 * seen.bloom was made for 1,000,000 keys, and capacity says 1,000; leave it out, or name another filter
 */
