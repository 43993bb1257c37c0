/** What every product that a test starts is told of its box: nothing, unless the file that loads the tests has said another before. */
export const boxUnderTest: { env: Readonly<Record<string, string>> } = { env: {} }
