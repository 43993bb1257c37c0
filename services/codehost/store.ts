/** The state in one JSON file: changed one change at a time, on disk before it is answered. */
import { serialize } from '#platform/async/queue.ts'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { DamagedData, NewerData } from '#platform/ports/faults.ts'
import { emptyState, State } from './state.ts'

/** Where the code host's state is read and changed. */
export interface Store {
  /** The state as it was last written. */
  current(): State
  /**
   * Changes the state. `change` is pure and may throw to refuse; changes are applied one after the other, and the answer
   * comes when the file holds the new state. A write that fails leaves the old state in force.
   */
  update<Answer>(change: (state: State) => readonly [State, Answer]): Promise<Answer>
  /** Waits for what is being written. */
  settled(): Promise<void>
}

/** Opens `code-host.json` in `dataDir`. Throws DamagedData or NewerData, and leaves the file as it is then. */
export async function openStore(dataDir: string): Promise<Store> {
  const path = join(dataDir, 'code-host.json')
  let state = await load(path)
  const serialized = serialize()

  return {
    current: () => state,
    update: (change) =>
      serialized(async () => {
        const [next, answer] = change(state)
        if (next !== state) await write(path, next)
        state = next
        return answer
      }),
    settled: () => serialized(() => undefined),
  }
}

async function load(path: string): Promise<State> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`Cannot read the code host's state in ${path}: ${error.message}`, { cause: error })
  })
  if (text === undefined) return emptyState
  const json = parse(text)
  const written = z.object({ version: z.int() }).safeParse(json)
  if (written.success && written.data.version > emptyState.version) {
    throw new NewerData(path, written.data.version, emptyState.version)
  }
  const state = State.safeParse(migrated(json))
  if (!state.success) throw new DamagedData(path, state.error)
  return state.data
}

/** Version 1 knew nothing of reviews, checks and issues: what it lacks is empty. */
function migrated(json: unknown): unknown {
  const isFirst = z.object({ version: z.literal(1) }).safeParse(json).success
  return isFirst && typeof json === 'object' ? { ...json, version: emptyState.version } : json
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function write(path: string, state: State): Promise<void> {
  const beside = `${path}.tmp`
  const file = await open(beside, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(state, null, 1))
    // A rename that is on disk before its bytes would leave an empty file after a power cut.
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, path)
}
