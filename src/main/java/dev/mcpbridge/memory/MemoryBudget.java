package dev.mcpbridge.memory;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Limits the memory used by buffered messages: incomplete incoming messages, and responses that
 * their clients have not read yet. From three quarters of the limit no call is started, since the
 * size of its response is unknown; at the limit, incoming messages wait. Only {@linkplain #LARGE
 * large} messages are counted.
 *
 * <p>One partially received message may always continue, unless unread responses use up the limit;
 * otherwise many partial messages could wait for each other.
 *
 * <p>Thread-safe.
 */
public final class MemoryBudget {
  /** Minimum size in bytes of a message that is counted. */
  public static final int LARGE = 64 * 1024;

  private final long limit;
  private final AtomicLong held = new AtomicLong();
  private final AtomicLong unread = new AtomicLong();
  private final AtomicReference<Share> privileged = new AtomicReference<>();

  /**
   * @param limit in bytes
   */
  public MemoryBudget(long limit) {
    this.limit = limit;
  }

  /** Whether no further call should be started. */
  public boolean isHigh() {
    return held.get() >= limit / 4 * 3;
  }

  /** Bytes in use. */
  public long held() {
    return held.get();
  }

  /** Counts a complete response that its client has to read. */
  public void addUnread(long bytes) {
    unread.addAndGet(bytes);
    held.addAndGet(bytes);
  }

  /** Releases a response: it was passed on, or its client has read it or disconnected. */
  public void removeUnread(long bytes) {
    addUnread(-bytes);
  }

  public Share share() {
    return new Share();
  }

  /** Memory used by one incoming body or message. Used by one thread at a time. */
  public final class Share {
    private long bytes;

    private Share() {}

    /** Sets the size of this share, even if there is no room. */
    public void take(long size) {
      resize(size);
      if (size == 0) {
        releasePrivilege();
      }
    }

    private void resize(long size) {
      held.addAndGet(size - bytes);
      bytes = size;
    }

    private void releasePrivilege() {
      if (privileged.get() == this) {
        privileged.set(null);
      }
    }

    /**
     * Sets the size of this share if the limit permits it; otherwise nothing changes. A share that
     * is the only one always has room.
     */
    public boolean takeIfRoom(long size) {
      long before;
      do {
        before = held.get();
        long others = before - bytes;
        if (others > 0 && size > bytes && others + size > limit) {
          return takePrivileged(size);
        }
      } while (!held.compareAndSet(before, before + size - bytes));
      bytes = size;
      releasePrivilege();
      return true;
    }

    private boolean takePrivileged(long size) {
      long responses = unread.get();
      boolean isAllowed =
          bytes > 0
              && (responses == 0 || responses + size <= limit)
              && (privileged.get() == this || privileged.compareAndSet(null, this));
      if (isAllowed) {
        resize(size);
      }
      return isAllowed;
    }

    /** The message is complete: its bytes count as {@linkplain #addUnread given} from now on. */
    public void becomeUnread() {
      unread.addAndGet(bytes);
      bytes = 0;
      releasePrivilege();
    }

    /** Releases the share; idempotent. */
    public void release() {
      if (bytes != 0) {
        take(0);
      }
    }
  }
}
