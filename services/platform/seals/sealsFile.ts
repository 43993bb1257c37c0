/** Seals outside of the database: an append-only file with a line of JSON for each seal, and another for each cosigned copy of a seal. */
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { ifAbsent } from '#platform/files.ts'
import { jsonOf } from '#platform/json.ts'
import type { LogIdentity } from '#domain/log.ts'
import { parseCheckpoint, parseNote } from '#domain/proof/checkpoint.ts'
import { identityIn, type SealNotes } from '#domain/proof/sealNotes.ts'

const Line = z.object({
  /** The revision of the seal's event in the stream of seals. */
  revision: z.int().nonnegative(),
  at: z.iso.datetime(),
  checkpoint: z.string(),
  heads: z.string(),
})
export interface OutsideSeal extends SealNotes {
  readonly revision: number
  readonly at: string
}

export interface SealLine {
  /** The number of the line, counted from 1. */
  readonly number: number
  readonly text: string
  /** The parsed seal; `undefined` when the line is not a seal. */
  readonly seal: OutsideSeal | undefined
}

export interface SealsFile {
  /** The newest seal of the file's last epoch; `undefined` when there is none. */
  newest(): Promise<OutsideSeal | undefined>
  /** Appends seals. Resolves when they are on the disk. */
  append(seals: readonly OutsideSeal[]): Promise<void>
  /** All lines in order, except empty ones. */
  all(): AsyncGenerator<SealLine>
}

/** How many bytes are read from the end of the file to find the newest seal. A seal has about 800 bytes, and at most 20,000 with cosignatures. */
const tailBytes = 65_536

export function sealsFile(path: string): SealsFile {
  return {
    newest: () => newest(path),
    append: (seals) => append(path, seals),
    all: () => all(path),
  }
}

/** The log and the epoch of the file's newest seal; `undefined` when there is none. */
export async function identityInFile(file: Pick<SealsFile, 'newest'>): Promise<LogIdentity | undefined> {
  const note = parseNote((await file.newest())?.checkpoint ?? '')
  return identityIn(parseCheckpoint(note?.text ?? '')?.origin ?? '')
}

async function newest(path: string): Promise<OutsideSeal | undefined> {
  const file = await open(path, 'r').catch(ifAbsent)
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - tailBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n')
    // If the process was killed while it wrote the last line, that line is incomplete and gives no seal. The line before it then has the last seal.
    const seals = lines.flatMap((line) => sealIn(line) ?? [])
    const last = seals.at(-1)
    if (last === undefined) return undefined
    // The last line need not have the newest seal: a cosignature may be written after the next seal.
    const ofEpoch = seals.filter((seal) => originIn(seal) === originIn(last))
    return ofEpoch.reduce((newest, seal) => (seal.revision >= newest.revision ? seal : newest))
  } finally {
    await file.close()
  }
}

const originIn = ({ checkpoint }: OutsideSeal) => checkpoint.slice(0, checkpoint.indexOf('\n'))

async function append(path: string, seals: readonly OutsideSeal[]): Promise<void> {
  if (seals.length === 0) return
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'a+', 0o600)
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
    const isTorn = bytesRead === 1 && buffer.toString() !== '\n'
    const lines = seals.map((seal) => `${JSON.stringify(seal)}\n`).join('')
    await file.appendFile(isTorn ? `\n${lines}` : lines)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function* all(path: string): AsyncGenerator<SealLine> {
  const file = await open(path, 'r').catch(ifAbsent)
  if (!file) return
  let number = 0
  try {
    for await (const text of createInterface({ input: file.createReadStream({ autoClose: false }) })) {
      number += 1
      if (text !== '') yield { number, text, seal: sealIn(text) }
    }
  } finally {
    await file.close()
  }
}

function sealIn(line: string): OutsideSeal | undefined {
  return Line.safeParse(jsonOf(line)).data
}
