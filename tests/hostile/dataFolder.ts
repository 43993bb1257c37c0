/** Searches all that a data folder holds, byte by byte: file names, files in several encodings, and git's objects unpacked. */
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** A place where one of the words lies. */
export interface Found {
  readonly word: string
  /** The file, below the data folder. */
  readonly file: string
}

/**
 * Where any of the words lies. The local code host's own folder is left out: its repositories and accounts are the code host's, as GitHub's
 * would be.
 */
export async function search(dataDir: string, words: readonly string[]): Promise<readonly Found[]> {
  const found: Found[] = []
  const look = (file: string, bytes: Buffer): void => {
    for (const word of words)
      if (formsOf(word).some((form) => bytes.includes(form)))
        found.push({ word, file: relative(dataDir, file) })
  }
  const walk = async (folder: string): Promise<void> => {
    // What goes meanwhile is no longer there to be found.
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

/** The word as text of one byte and of two, and as it shows in base64, wherever in a group of three it begins. */
function formsOf(word: string): readonly Buffer[] {
  const inBase64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(word)]).toString('base64')
    // The ends are mixed with what stands beside the word.
    return Buffer.from(encoded.slice(before === 0 ? 0 : 4, -4))
  })
  return [Buffer.from(word), Buffer.from(word, 'utf16le'), ...inBase64]
}

/** All objects that a git directory holds or reaches, unpacked. */
async function objectsOf(gitDir: string): Promise<Buffer> {
  const git = spawn('git', ['--git-dir', gitDir, 'cat-file', '--batch-all-objects', '--batch'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    // The agent's own belongs to another user.
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
