/** The keys that the verifier has seen: a file with a line for each log, its id and the verifier key that signed its first bundle. */
import { appendFileSync, existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseVerifierKey } from '../../domain/proof/checkpoint.ts'
import { cryptography } from '../platform/seals/cryptography.ts'
import { textLines } from './textLines.ts'

/** The file of known keys of the person who runs this. */
export function usualKnownKeys(configHome: string | undefined): string {
  // A relative folder is to be ignored, as the XDG specification has it.
  const folder = configHome?.startsWith('/') === true ? configHome : join(homedir(), '.config')
  return join(folder, 'flightdeck', 'known-keys')
}

/** The keys that are remembered for a log. Throws when a line is not one of this file: a check without it would say too much. */
export function knownKeysOf(file: string, logId: string): readonly string[] {
  if (!existsSync(file)) return []
  return [...textLines(file)].flatMap((line) => {
    if (line.trim() === '') return []
    const [id, key = '', ...more] = line.trim().split(' ')
    if (more.length > 0 || parseVerifierKey(cryptography.sha256, key) === undefined)
      throw new Error(`${file} has a line that is no log id with a verifier key: ${line}`)
    return id === logId ? [key] : []
  })
}

/** Remembers the key of a log. */
export function rememberKey(file: string, logId: string, verifierKey: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  appendFileSync(file, `${logId} ${verifierKey}\n`, { mode: 0o600 })
}
