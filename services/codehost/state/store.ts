/** Keeps a state in one JSON file. Changes run one after the other, and each change is on disk before it is confirmed. */
import { serialize } from '#platform/async/queue.ts'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { DamagedData, NewerData } from '#platform/ports/faults.ts'
import { emptyState, State } from './stateSchema.ts'

/** Reads and changes a state. By default, this is the state of the code host. */
export interface Store<Kept = State> {
  /** The state as it was last written to disk. */
  current(): Kept
  /**
   * Changes the state. `change` must be pure, and may throw to refuse the change. Changes run one after the other. Resolves when the file contains
   * the new state. If writing fails, the state does not change.
   */
  update<Answer>(change: (state: Kept) => readonly [Kept, Answer]): Promise<Answer>
  /** Resolves when all updates that were requested before have ended. */
  settled(): Promise<void>
}

/** The name, format and initial content of a state file. */
export interface StateFile<Kept> {
  readonly name: string
  readonly schema: z.ZodType<Kept>
  readonly empty: Kept
}

const codeHostFile: StateFile<State> = {
  name: 'code-host.json',
  // A file of version 1 has no reviews and issues, so their lists get the default, which is empty.
  schema: z.preprocess(
    (json) =>
      z.object({ version: z.literal(1) }).safeParse(json).success && typeof json === 'object'
        ? { ...json, version: emptyState.version }
        : json,
    State,
  ),
  empty: emptyState,
}

export const openStore = (dataDir: string): Promise<Store> => openStateFile(dataDir, codeHostFile)

/**
 * Opens a state file in `dataDir`. Throws, without changing the file, when it cannot be read, is damaged (DamagedData) or has a newer version
 * (NewerData).
 */
export async function openStateFile<Kept extends { readonly version: number }>(
  dataDir: string,
  file: StateFile<Kept>,
): Promise<Store<Kept>> {
  const path = join(dataDir, file.name)
  let state = await load(path, file)
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

async function load<Kept extends { readonly version: number }>(
  path: string,
  { schema, empty }: StateFile<Kept>,
): Promise<Kept> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`Cannot read the code host's state in ${path}: ${error.message}`, { cause: error })
  })
  if (text === undefined) return empty
  const json = parse(text)
  const written = z.object({ version: z.int() }).safeParse(json)
  if (written.success && written.data.version > empty.version) {
    throw new NewerData(path, written.data.version, empty.version)
  }
  const state = schema.safeParse(json)
  if (!state.success) throw new DamagedData(path, state.error)
  return state.data
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function write(path: string, state: unknown): Promise<void> {
  const beside = `${path}.tmp`
  const file = await open(beside, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(state, null, 1))
    // Without `sync`, the renamed file could be on disk before its content, and a power cut would leave an empty file.
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, path)
}
