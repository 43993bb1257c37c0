package shape;

import com.google.common.base.Splitter;

public final class Words {
  private Words() {}

  public static long count(String text) {
    return Splitter.on(' ').splitToStream(text).count();
  }
}
