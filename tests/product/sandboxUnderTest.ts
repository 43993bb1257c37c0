/** Variables about the sandbox for every product that a test starts: none, unless the file that loads the tests has set some before. */
export const sandboxUnderTest: { env: Readonly<Record<string, string>> } = { env: {} }
