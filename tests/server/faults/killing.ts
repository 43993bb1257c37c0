/** Kills the product at each write of a command in turn, repeats the command as a client does, and checks that it has exactly one effect. */
import { DatabaseSync } from '@photostructure/sqlite'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { z } from 'zod'
import type { AnyCall } from '#domain/api/call.schema.ts'
import { addressOf, type Answer, type Ask, type Person } from '../../product/person.ts'
import type { Product, ProductOptions } from '../../product.ts'
import { deletions } from '#platform/commands/requestedJobs.ts'
import type { Scene } from '../scene.ts'

/** A command that a client sends with one key, as often as necessary. `answers` are those to the commands before it. */
export type Command = (key: string, answers: readonly Answer[]) => Promise<Answer>

/** The person's call as a command with an Idempotency-Key. */
export function command<C extends AnyCall>(person: Person, call: C, ask: Ask<C> = {}): Command {
  const { params, query, body } = ask
  return (key) => person.api(call.method, addressOf(call, params, query), body, { 'idempotency-key': key })
}

/** What a person does, and what must be true when it is done. */
export interface Doing {
  /** The commands; each is sent after the one before it was answered. */
  readonly commands: readonly Command[]
  /** Resolves when the consequences of the commands have ended; the product may be killed during that too. */
  follows?(): Promise<unknown>
  /** Statuses of refusals that a kill makes correct: a run that was to be cancelled has ended with the process. */
  readonly mayBeRefused?: readonly number[]
  /** For a command that removes the access with which it was sent: the status of a repeat after it was done. */
  readonly doneAnswers?: number
  /** Throws unless each accepted command had its effect once. `answers` are the last answers. */
  check(answers: readonly Answer[]): Promise<void>
}

/** A kind of command: `prepare` creates what the command is about, without kills, again for each kill. */
export interface Kind {
  readonly name: string
  prepare(): Promise<Doing>
}

/** The places at which the product was killed, one for each kill. */
export type Points = readonly string[]

export interface Killing {
  /** The options with which the product must be started. */
  readonly options: Pick<ProductOptions, 'preload' | 'env'>
  /** Does the kind again and again, killed at its first write, its second, and so on, until it passes without a kill. */
  everywhere(scene: Scene, kind: Kind, moments?: readonly Moment[]): Promise<Points>
}

/**
 * On the disk, the state after a write is the same as before the next write. Between the two the product may have answered: if it is killed right
 * after a write it has not answered, if it is killed before the next it may have.
 */
export type Moment = 'before' | 'after'

const preload = fileURLToPath(new URL('killAt.js', import.meta.url))
/** More writes than any kind has; beyond this number, something writes for ever. */
const mostWrites = 500

/** `folder` contains the orders to the product. */
export function openKilling(folder: string): Killing {
  const file = join(folder, 'order')

  async function order(text: string): Promise<void> {
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  }

  /** Withdraws the order. Returns the place at which the product was killed; `undefined` when it was not. */
  async function takeBack(): Promise<string | undefined> {
    try {
      await unlink(file)
      return undefined
    } catch {
      return readFile(`${file}.told`, 'utf8')
    }
  }

  /** The place of the kill, and whether all commands had been answered; `undefined` when there was no kill. */
  async function killedAt({ product }: Scene, kind: Kind, at: number, moment: Moment) {
    // Consequences of earlier commands, and an erasure that `prepare` begins, would be counted with the writes of this command.
    await doneWith(product, ['execution', 'pull_request', 'erasure'])
    const doing = await kind.prepare()
    // A task that must be running goes on.
    await doneWith(product, ['erasure'])
    const key = randomUUID()
    const answers: Answer[] = []
    await order(`${key} ${at} ${moment}`)
    try {
      for (const [index, ask] of doing.commands.entries()) answers.push(await ask(`${key} ${index}`, answers))
      await doing.follows?.()
    } catch (fault) {
      // A broken connection is caused by the kill; any other fault is not.
      if (existsSync(file)) throw fault
    }
    const where = await takeBack()
    if (where !== undefined) {
      await product.kill9()
      await product.restart()
    }
    const again: Answer[] = []
    for (const [index, ask] of doing.commands.entries()) {
      const answer = await ask(`${key} ${index}`, again)
      hold(answer, answers[index], doing)
      again.push(answer)
    }
    await doing.check(again)
    return where === undefined ? undefined : { where, isAnswered: answers.length === doing.commands.length }
  }

  return {
    options: { preload, env: { KILL_ORDER: file } },
    async everywhere(scene, kind, moments = ['before', 'after']) {
      const points: string[] = []
      let left = moments
      for (let at = 1; at <= mostWrites; at += 1) {
        for (const moment of left) {
          try {
            const killed = await killedAt(scene, kind, at, moment)
            if (killed === undefined) return points
            points.push(killed.where)
            // No further command is answered, and the state before the next write is the same as after this one.
            if (killed.isAnswered && moment === 'after') left = ['after']
          } catch (fault) {
            const why = fault instanceof Error ? fault.message : String(fault)
            throw new Error(`${kind.name}, killed ${moment} write ${at}: ${why}`, { cause: fault })
          }
        }
      }
      throw new Error(`${kind.name} still writes after ${mostWrites} writes.`)
    },
  }
}

/** A run that was killed ends only after the restart. */
const doneWithinMs = 60_000

/**
 * Resolves once the product has no more of these jobs, and has stored how far it queued them, which it does a second later. Until then the product
 * writes by itself, and the n-th write would be a different one each time.
 */
async function doneWith({ dataDir }: Product, kinds: readonly string[]): Promise<void> {
  await expect
    .poll(() => toBeDone(dataDir, kinds), { timeout: doneWithinMs, interval: 50, message: 'what goes on' })
    .toEqual([])
}

/** The checkpoints of how far events were turned into jobs. */
const asking = {
  dispatched: ['ExecutionRequested', 'PullRequestRequested'],
  erased: deletions,
} as const
const Counted = z.object({ count: z.number() })

/** The open jobs, and the checkpoints that are behind, read from the files of the running product. */
function toBeDone(dataDir: string, kinds: readonly string[]): readonly string[] {
  const db = new DatabaseSync(join(dataDir, 'jobs.sqlite'), { readOnly: true, timeout: 5_000 })
  try {
    db.prepare('ATTACH ? AS log').run(join(dataDir, 'events.sqlite'))
    const count = (sql: string, values: readonly string[]) =>
      Counted.parse(db.prepare(`SELECT count(*) AS count FROM ${sql}`).get(...values)).count
    const anyOf = (values: readonly string[]) => values.map(() => '?').join()
    const open = kinds.filter(
      (kind) => count(`jobs WHERE kind = ? AND state IN ('queued', 'leased')`, [kind]) > 0,
    )
    const behind = Object.entries(asking).filter(
      ([mark, types]) =>
        count(
          `log.events WHERE type IN (${anyOf(types)}) AND position >
             (SELECT coalesce(max(CAST(position AS INTEGER)), 0) FROM marks WHERE name LIKE ?)`,
          [...types, `${mark}-%`],
        ) > 0,
    )
    return [...open, ...behind.map(([mark]) => mark)]
  } finally {
    db.close()
  }
}

/** Compares the second answer to a key with the first one, if there was one. */
function hold(again: Answer, first: Answer | undefined, { mayBeRefused = [], doneAnswers }: Doing): void {
  if (again.status === doneAnswers) return
  const isFine = again.status < 300 || (first === undefined && mayBeRefused.includes(again.status))
  if (!isFine) throw new Error(`It answers ${again.status}: ${again.text}`)
  if (first === undefined) return
  const [one, other] = [first, again].map(({ status, body }) => `${status} ${idsIn(body)}`)
  if (one !== other) throw new Error(`It answered ${one}, and then ${other}.`)
}

/** The ids in an answer: they must not change between an answer and its repeat, unlike a status. */
function idsIn(body: unknown): string {
  const { task, chatMessage, project, pr } = Object(body)
  return JSON.stringify([task, chatMessage, project].map((one) => Object(one).id).concat(Object(pr).number))
}
