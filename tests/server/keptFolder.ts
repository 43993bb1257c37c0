/** The data folders of earlier versions, unpacked, and what those versions answered about them. See `keptFolder.spec.ts`. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const kept = fileURLToPath(new URL('../data/keptFolder/', import.meta.url))

const Answers = z.record(z.string(), z.unknown())
const Lines = z.array(z.string())
const Expected = z.object({
  ids: z.object({ tasks: z.array(z.string()), deleted: z.string(), projectId: z.string() }),
  /** By path below `/api`. */
  answers: Answers,
  /** By task. */
  bundles: z.record(z.string(), Lines),
  /** By task, then by the index of the item that was shown last. */
  replays: z.record(z.string(), z.record(z.string(), z.unknown())),
})

/** Without what each answer makes: the right to see an image for some hours, and the words proposed for a pull request. */
export const recorded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/grant=[\w-]+/g, 'grant=…'), (name, member: unknown) =>
    name === 'proposal' ? null : asToday(member),
  )

/** An event of an older version is lifted when it is read. */
const Lifted = z.looseObject({ type: z.literal('ToolStarted'), version: z.number() })
function asToday(member: unknown): unknown {
  const lifted = Lifted.safeParse(member)
  return lifted.success ? { ...lifted.data, version: 2 } : member
}

const EventLine = z.looseObject({ kind: z.literal('event') })
export const eventsOf = (lines: readonly string[]) =>
  lines.flatMap((line) => EventLine.safeParse(JSON.parse(line)).data ?? [])

export const archives: readonly string[] = readdirSync(kept)

export interface KeptFolder {
  /** The folder that has everything and has to be removed. */
  readonly folder: string
  readonly dataDir: string
  readonly expected: z.infer<typeof Expected>
}

export async function unpackKept(archive: string): Promise<KeptFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-kept-'))
  execFileSync('tar', ['-xzf', join(kept, archive), '-C', folder])
  const part = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, 'expected', `${name}.json`), 'utf8'))
  const [ids, answers, bundles, replays] = await Promise.all(
    ['ids', 'answers', 'bundles', 'replays'].map(part),
  )
  const expected = Expected.parse({ ids, answers, bundles, replays })
  return { folder, dataDir: join(folder, 'data'), expected }
}
