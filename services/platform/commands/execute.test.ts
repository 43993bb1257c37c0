/** Loading, deciding and appending, with the embedded engines and a decider that counts. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Decider } from '#domain/kernel/decider.ts'
import { Fault, refuse } from '#domain/kernel/errors.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { TaskUpdated, UsageRecorded, type TaskEvent } from '#domain/task/events.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { chainFaultOf } from '../eventlog/chain.ts'
import { commands } from './execute.ts'
import type { EventLog } from '../eventlog/eventLog.ts'
import { intact } from '#platform/ports/eventStore.ts'

interface Titles {
  readonly titles: readonly string[]
}
type TitleCommand =
  | { readonly type: 'add' | 'addTwice'; readonly title: string }
  | { readonly type: 'nothing' | 'impossible' }
  /** Takes effect only if there are exactly `count` titles. */
  | { readonly type: 'addAfter'; readonly count: number; readonly title: string }

const titled = (title: string) => TaskUpdated.of({}, { title, description: '' })
const titles: Decider<Titles, TitleCommand, TaskEvent> = {
  initial: { titles: [] },
  decide(command, state) {
    switch (command.type) {
      case 'add':
        return [titled(command.title)]
      case 'addTwice':
        return [titled(command.title), titled(command.title)]
      case 'addAfter':
        return state.titles.length === command.count ? [titled(command.title)] : refuse('conflict')
      case 'nothing':
        return []
      case 'impossible':
        return refuse('already_exists', 'It is there.', 'title')
    }
  },
  evolve: (state, event) =>
    event.type === 'TaskUpdated' ? { titles: [...state.titles, event.content?.title ?? ''] } : state,
}

const stream = taskStream(taskId(1))

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const recordedTitles = async () =>
  (await engines.log.read(stream, 0, 10_000)).flatMap((event) =>
    event.type === 'TaskUpdated' ? [event.content?.title] : [],
  )
const add = (title: string) => ({ type: 'add', title }) as const

describe('a command', () => {
  test('is decided on the state, recorded, and answered with the state and place it leads to', async () => {
    await engines.commands.execute(titles, stream, add('first'), cause())
    const done = await engines.commands.execute(
      titles,
      stream,
      { type: 'addTwice', title: 'second' },
      cause(),
    )
    expect(done.state.titles).toEqual(['first', 'second', 'second'])
    expect(done).toMatchObject({
      repeated: false,
      head: { revision: 2 },
      position: done.events.at(-1)?.position,
    })
    expect(done.events.map((event) => event.revision)).toEqual([1, 2])
    expect(await recordedTitles()).toEqual(['first', 'second', 'second'])
    expect(await engines.log.headOf(stream)).toEqual(done.head)
  })

  test('that is refused is told with code, sentence and field, and records nothing', async () => {
    const refused = engines.commands.execute(titles, stream, { type: 'impossible' }, cause())
    await expect(refused).rejects.toMatchObject({
      name: 'Fault',
      code: 'already_exists',
      message: 'It is there.',
      field: 'title',
    })
    expect(await recordedTitles()).toEqual([])
  })

  test('that changes nothing records nothing and answers where the stream ends', async () => {
    const none = await engines.commands.execute(titles, stream, { type: 'nothing' }, cause())
    expect(none).toMatchObject({ position: null, events: [], head: { revision: -1 } })
    const { position } = await engines.commands.execute(titles, stream, add('first'), cause())
    const after = await engines.commands.execute(titles, stream, { type: 'nothing' }, cause())
    expect(after).toMatchObject({ position, events: [], repeated: false })
  })

  test('that is refused does not keep the next one of its stream waiting or failing', async () => {
    const refused = engines.commands.execute(titles, stream, { type: 'impossible' }, cause())
    const next = engines.commands.execute(titles, stream, add('next'), cause())
    await expect(refused).rejects.toThrow('It is there.')
    expect((await next).state.titles).toEqual(['next'])
  })
})

describe('a repeat under the same command id', () => {
  test('has one effect, and is answered with the place of the first', async () => {
    const once = cause()
    const first = await engines.commands.execute(titles, stream, { type: 'addTwice', title: 'a' }, once)
    await engines.commands.execute(titles, stream, add('b'), cause())
    const again = await engines.commands.execute(titles, stream, { type: 'addTwice', title: 'a' }, once)
    expect(again).toMatchObject({ repeated: true, position: first.position, events: [] })
    expect(again.state.titles).toEqual(['a', 'a', 'b'])
    expect(await recordedTitles()).toEqual(['a', 'a', 'b'])
  })

  test('has one effect also when both are asked at once, in one process or in two', async () => {
    const elsewhere = commands(engines.log)
    for (const [index, other] of [engines.commands, elsewhere].entries()) {
      const once = cause()
      const both = await Promise.all([
        engines.commands.execute(titles, stream, add(`t${index}`), once),
        other.execute(titles, stream, add(`t${index}`), once),
      ])
      expect(both[0].position).toBe(both[1].position)
    }
    expect(await recordedTitles()).toEqual(['t0', 't1'])
  })

  test('that two processes decide at once leaves a whole chain, and the later one knows that it repeats', async () => {
    const processes = [engines.commands, commands(engines.log)]
    const before = await engines.commands.execute(titles, stream, add('before'), cause())
    await processes[1]?.load(titles, stream)
    const again = cause()
    const both = await Promise.all(
      processes.map((process) => process.execute(titles, stream, add('once'), again)),
    )
    expect(both.map(({ repeated }) => repeated).toSorted()).toEqual([false, true])
    expect(new Set(both.map(({ head }) => head.hash)).size).toBe(1)
    await Promise.all(processes.map((process) => process.execute(titles, stream, add('after'), cause())))
    const events = intact(
      await engines.eventStore.readStream(stream, { from: 0, direction: 'forwards', limit: 10 }),
    )
    expect(before.head.revision).toBe(0)
    expect(events.map((event, at) => chainFaultOf(event, events[at - 1] ?? null))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('that another process accepted is known, even though nothing more is admitted', async () => {
    await engines.commands.execute(titles, stream, add('before'), cause())
    const once = cause()
    await commands(engines.log).execute(titles, stream, add('a'), once)
    const full = () => Promise.reject(new Fault('too_many_tasks'))
    expect(await engines.commands.execute(titles, stream, add('a'), once, full)).toMatchObject({
      repeated: true,
    })
    await expect(engines.commands.execute(titles, stream, add('b'), cause(), full)).rejects.toMatchObject({
      code: 'too_many_tasks',
    })
  })

  test('is known to a process that was started since', async () => {
    const once = cause()
    await engines.commands.execute(titles, stream, add('a'), once)
    const restarted = commands(engines.log)
    expect(await restarted.execute(titles, stream, add('a'), once)).toMatchObject({ repeated: true })
    expect(await recordedTitles()).toEqual(['a'])
  })

  test('is known even when a run has reported thousands of times since', async () => {
    const once = cause()
    await engines.commands.execute(titles, stream, add('a'), once)
    const usage = UsageRecorded.of({
      executionId: executionId(1),
      model: null,
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: 0,
    })
    let head = await engines.log.headOf(stream)
    for (let count = 0; count < 2_100; count += 1) {
      const actor = { kind: 'system', service: 'runner' } as const
      const appended = await engines.log.append(stream, head, [usage], { actor, commandId: randomUUID() })
      if (appended.kind === 'appended') head = appended.head
    }
    expect(await engines.commands.execute(titles, stream, add('a'), once)).toMatchObject({ repeated: true })
    expect(await recordedTitles()).toEqual(['a'])
  })
})

describe('a race for a stream', () => {
  test('between processes is decided anew on what the winner left: every command takes effect once', async () => {
    const processes = [engines.commands, commands(engines.log), commands(engines.log)]
    const asked = processes.flatMap((process, who) =>
      Array.from({ length: 5 }, (_, n) => process.execute(titles, stream, add(`${who}.${n}`), cause())),
    )
    const done = await Promise.all(asked)
    const expected = [0, 1, 2].flatMap((who) => [0, 1, 2, 3, 4].map((n) => `${who}.${n}`))
    const recorded = await recordedTitles()
    expect([...recorded].sort()).toEqual(expected)
    // The state in each answer contains the events up to the answer's own `head`, and no later ones.
    for (const { state, head } of done) expect(state.titles).toEqual(recorded.slice(0, head.revision + 1))
  })

  test('may take from the loser what it decided on', async () => {
    const elsewhere = commands(engines.log)
    const both = await Promise.allSettled([
      engines.commands.execute(titles, stream, { type: 'addAfter', count: 0, title: 'a' }, cause()),
      elsewhere.execute(titles, stream, { type: 'addAfter', count: 0, title: 'b' }, cause()),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await recordedTitles()).toHaveLength(1)
  })

  test('with a process that deletes the stream and its key is refused for the reason of the newest state', async () => {
    await engines.commands.execute(titles, stream, add('a'), cause())
    await commands(engines.log).execute(titles, stream, add('b'), cause())
    await engines.vault.destroy(scopeOfStream(stream))
    const late = engines.commands.execute(titles, stream, { type: 'addAfter', count: 1, title: 'c' }, cause())
    await expect(late).rejects.toMatchObject({ name: 'Fault', code: 'conflict' })
  })

  test('that others keep winning ends as a conflict that the person is told of', async () => {
    let appends = 0
    const alwaysLate: EventLog = {
      ...engines.log,
      append: async () => {
        appends += 1
        return { kind: 'conflict', actual: 0 }
      },
    }
    const late = commands(alwaysLate)
    await expect(late.execute(titles, stream, add('a'), cause())).rejects.toMatchObject({ code: 'conflict' })
    expect(appends).toBe(20)
  })

  test('within a process is none: commands of a stream go in the order they came', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
    await Promise.all(names.map((name) => engines.commands.execute(titles, stream, add(name), cause())))
    expect(await recordedTitles()).toEqual(names)
  })
})

test('a state that is loaded while a command is under way is one that was, and the next is the newest', async () => {
  const seen: number[] = []
  for (let count = 0; count < 20; count += 1) {
    const [loaded, done] = await Promise.all([
      engines.commands.load(titles, stream),
      engines.commands.execute(titles, stream, add(`n${count}`), cause()),
    ])
    expect([count, count + 1]).toContain(loaded.state.titles.length)
    seen.push(done.state.titles.length)
    expect((await engines.commands.load(titles, stream)).head).toEqual(done.head)
  }
  expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
})

test('a long stream is loaded whole, also by who starts anew', async () => {
  let head = await engines.log.headOf(stream)
  for (let count = 0; count < 5; count += 1) {
    const many = Array.from({ length: 500 }, (_, index) => titled(String(count * 500 + index)))
    const appended = await engines.log.append(stream, head, many, cause())
    if (appended.kind === 'appended') head = appended.head
  }
  const { state } = await commands(engines.log).load(titles, stream)
  expect(state.titles).toEqual(Array.from({ length: 2_500 }, (_, index) => String(index)))
})
