/** Searches everything in a data folder, byte by byte: file names, files in several encodings, and git's objects unpacked. */
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** A place where one of the words was found. */
export interface Found {
  readonly word: string
  /** The path of the file in the data folder. */
  readonly file: string
}

/**
 * The places where any of the words occurs. The local code host's own folder is left out: its repositories and accounts belong to the code host, as
 * GitHub's would.
 */
export async function search(dataDir: string, words: readonly string[]): Promise<readonly Found[]> {
  const found: Found[] = []
  const look = (file: string, bytes: Buffer): void => {
    for (const word of words)
      if (formsOf(word).some((form) => bytes.includes(form)))
        found.push({ word, file: relative(dataDir, file) })
  }
  const walk = async (folder: string): Promise<void> => {
    // A folder that is removed meanwhile cannot contain anything.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    const names = new Set(entries.map(({ name }) => name))
    if (names.has('HEAD') && names.has('objects')) look(`${folder} (objects)`, await objectsOf(folder))
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (path === join(dataDir, 'codehost')) continue
      look(path, Buffer.from(entry.name))
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) look(path, await readFile(path).catch(() => Buffer.alloc(0)))
    }
  }
  await walk(dataDir)
  return found
}

/** The word in encodings of one and of two bytes, and in base64, for each offset within a group of three bytes. */
function formsOf(word: string): readonly Buffer[] {
  const inBase64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(word)]).toString('base64')
    // The characters at the ends also depend on the bytes next to the word.
    return Buffer.from(encoded.slice(before === 0 ? 0 : 4, -4))
  })
  return [Buffer.from(word), Buffer.from(word, 'utf16le'), ...inBase64]
}

/** All objects that a git directory contains or reaches, unpacked. */
async function objectsOf(gitDir: string): Promise<Buffer> {
  const git = spawn('git', ['--git-dir', gitDir, 'cat-file', '--batch-all-objects', '--batch'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    // The agent's own repository belongs to another user.
    env: {
      PATH: process.env['PATH'],
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    },
  })
  const chunks: Buffer[] = []
  for await (const chunk of git.stdout) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
