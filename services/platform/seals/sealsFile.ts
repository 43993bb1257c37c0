/** Seals outside of the database: a file that only grows, a JSON line for each seal. */
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { SealNotes } from '#domain/proof/sealNotes.ts'

const Line = z.object({
  /** Of the event in the stream of seals. */
  revision: z.int().nonnegative(),
  at: z.iso.datetime(),
  checkpoint: z.string(),
  heads: z.string(),
})
export interface OutsideSeal extends SealNotes {
  readonly revision: number
  /** When the log was sealed. */
  readonly at: string
}

export interface SealLine {
  /** Counts from 1. */
  readonly number: number
  readonly text: string
  /** What it says; `undefined` where it is no seal. */
  readonly seal: OutsideSeal | undefined
}

export interface SealsFile {
  /** The newest seal of the epoch that the file ends with; `undefined` where there is none. */
  newest(): Promise<OutsideSeal | undefined>
  /** Adds them at the end, on the disk when it resolves. */
  append(seals: readonly OutsideSeal[]): Promise<void>
  /** Every line in order, but for empty ones. */
  all(): AsyncGenerator<SealLine>
}

/** A seal has some 800 bytes and at most 20,000 with cosignatures, so that the last few are in here. */
const tailBytes = 65_536

export function sealsFile(path: string): SealsFile {
  return {
    newest: () => newest(path),
    append: (seals) => append(path, seals),
    all: () => all(path),
  }
}

async function newest(path: string): Promise<OutsideSeal | undefined> {
  const file = await opened(path)
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - tailBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n')
    // A line that a kill cut off cannot be read: the one before it is the last.
    const seals = lines.flatMap((line) => sealIn(line) ?? [])
    const last = seals.at(-1)
    if (last === undefined) return undefined
    // A cosignature may come after the next seal was written: that one is still the newest.
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
  const file = await opened(path)
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

async function opened(path: string) {
  try {
    return await open(path, 'r')
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined
    throw fault
  }
}

function sealIn(line: string): OutsideSeal | undefined {
  try {
    return Line.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
