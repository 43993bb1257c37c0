package shape;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class WordsTest {
  @Test
  public void countsWords() {
    assertEquals(3, Words.count("three small words"));
  }
}
