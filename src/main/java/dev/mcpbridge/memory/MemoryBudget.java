package dev.mcpbridge.memory;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The bytes that the bridge holds for others: what is on its way in, and answers on their way out
 * that nobody has taken. From three quarters of it no call is begun, since nobody knows how long
 * its answer will be; what is over it altogether waits on its way in. Only what is {@linkplain
 * #LARGE large} is counted.
 *
 * <p>Of what has come in in part one may always go on, unless it is the answers which are in the
 * way: else many halves could wait for each other.
 *
 * <p>For any thread.
 */
public final class MemoryBudget {
  /** Bytes from which on something is counted. */
  public static final int LARGE = 64 * 1024;

  private final long most;
  private final AtomicLong held = new AtomicLong();
  private final AtomicLong untaken = new AtomicLong();
  private final AtomicReference<Share> first = new AtomicReference<>();

  /**
   * @param most in bytes
   */
  public MemoryBudget(long most) {
    this.most = most;
  }

  /** Whether no call should be begun. */
  public boolean isHigh() {
    return held.get() >= most / 4 * 3;
  }

  /** Bytes. */
  public long held() {
    return held.get();
  }

  /** So much is whole, and on its way to a client that has to take it. */
  public void given(long bytes) {
    untaken.addAndGet(bytes);
    held.addAndGet(bytes);
  }

  /** It has come to its next place, or its client has taken it or left. */
  public void taken(long bytes) {
    given(-bytes);
  }

  public Share share() {
    return new Share();
  }

  /** What one body or message takes on its way in. Belongs to one thread at a time. */
  public final class Share {
    private long bytes;

    private Share() {}

    /** Takes so many bytes in all, whether there is room for them or not. */
    public void take(long now) {
      change(now);
      if (now == 0) {
        letOthersGoFirst();
      }
    }

    private void change(long now) {
      held.addAndGet(now - bytes);
      bytes = now;
    }

    private void letOthersGoFirst() {
      if (first.get() == this) {
        first.set(null);
      }
    }

    /**
     * Takes so many bytes in all, unless that is too much with the others; then nothing has
     * changed. What is alone has room, however much it is.
     */
    public boolean takeIfRoom(long now) {
      long before;
      do {
        before = held.get();
        long others = before - bytes;
        if (others > 0 && now > bytes && others + now > most) {
          return goesFirst(now);
        }
      } while (!held.compareAndSet(before, before + now - bytes));
      bytes = now;
      letOthersGoFirst();
      return true;
    }

    private boolean goesFirst(long now) {
      long answers = untaken.get();
      boolean may =
          bytes > 0
              && (answers == 0 || answers + now <= most)
              && (first.get() == this || first.compareAndSet(null, this));
      if (may) {
        change(now);
      }
      return may;
    }

    /** It is whole: what it has counts as {@linkplain #given given} from now on. */
    public void becomesGiven() {
      untaken.addAndGet(bytes);
      bytes = 0;
      letOthersGoFirst();
    }

    /** Gives everything back; may be called again. */
    public void release() {
      if (bytes != 0) {
        take(0);
      }
    }
  }
}
