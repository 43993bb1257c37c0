/** What every product that a test starts is told of its sandbox: nothing, unless the file that loads the tests has said another before. */
export const sandboxUnderTest: { env: Readonly<Record<string, string>> } = { env: {} }
