/**
 * Sends messages in the order in which they were written, each once. When offline, it sends them as soon as the connection is back, even if the
 * person has left the task. A message keeps its id in all attempts, so that a lost answer does not send it twice.
 */
import type { Store, UnknownAction } from '@reduxjs/toolkit'
import { isFault } from '../../../../api/fault.ts'
import { selectLive, type ConnectionState } from '../../../../live/connection.ts'
import { selectWaiting, writingWaits, writingWent } from '../../../../live/outbox.ts'
import { selectOpenTask, type SentMessage } from '../../taskSlice.ts'

type State = Parameters<typeof selectOpenTask>[0] & {
  readonly connection: ConnectionState
  readonly outbox: readonly string[]
}
type AnyStore = Pick<Store<State, UnknownAction>, 'dispatch' | 'getState' | 'subscribe'>

/** How long to wait for another attempt when nothing reports that the connection is back, in milliseconds. */
const retryIntervalMs = 10_000

/**
 * Sends one of the pending messages once those before it are sent. Resolves to the answer of `call`, or to `null` when the message was discarded
 * meanwhile.
 */
export async function sendInOrder<Answer extends { readonly error?: unknown }>(
  store: AnyStore,
  id: string,
  call: () => Promise<Answer>,
): Promise<Answer | null> {
  try {
    const before = ofSameTask(store.getState(), id, 'before')
    if (before.some(({ id: other }) => selectWaiting(store.getState()).includes(other))) wait(store, id)
    await until(store, () => ofSameTask(store.getState(), id, 'before').length === 0)
    while (isSent(store.getState(), id)) {
      const answer = await call()
      // Without an answer, it is unknown whether the server accepted the message, so the call is repeated.
      if (!isFault(answer.error, 'offline') && !isFault(answer.error, 'timeout')) return answer
      wait(store, id)
      addEventListener('beforeunload', askToStay)
      await connectionBack(store, id)
    }
    return null
  } finally {
    removeEventListener('beforeunload', askToStay)
    store.dispatch(writingWent(id))
  }
}

function isSent(state: State, id: string): boolean {
  return selectOpenTask(state).sent.some((sent) => sent.id === id && sent.refused === null)
}

/** Marks this message and those sent after it as waiting. */
function wait(store: AnyStore, id: string): void {
  store.dispatch(writingWaits(id))
  for (const after of ofSameTask(store.getState(), id, 'after')) store.dispatch(writingWaits(after.id))
}

/** Messages to the same task that are still being sent, from before or after this one. Refused messages do not count. */
function ofSameTask(state: State, id: string, when: 'before' | 'after'): readonly SentMessage[] {
  const { sent } = selectOpenTask(state)
  const place = sent.findIndex((message) => message.id === id)
  if (place === -1) return []
  const taskId = sent[place]?.taskId
  const others = when === 'before' ? sent.slice(0, place) : sent.slice(place + 1)
  return others.filter((message) => message.taskId === taskId && message.refused === null)
}

function until(store: AnyStore, holds: () => boolean): Promise<void> {
  if (holds()) return Promise.resolve()
  return new Promise((resolve) => {
    const leave = store.subscribe(() => {
      if (!holds()) return
      leave()
      resolve()
    })
  })
}

/** Resolves when the socket reconnects, when the browser comes online, after a while, or when the message was discarded. */
function connectionBack(store: AnyStore, id: string): Promise<void> {
  return new Promise((resolve) => {
    let lost = !selectLive(store.getState())
    const done = () => {
      clearTimeout(timer)
      leave()
      removeEventListener('online', done)
      resolve()
    }
    const leave = store.subscribe(() => {
      const state = store.getState()
      if (!isSent(state, id) || (lost && selectLive(state))) done()
      else lost ||= !selectLive(state)
    })
    const timer = setTimeout(done, retryIntervalMs)
    addEventListener('online', done)
  })
}

/** Asks for a confirmation before the page is left, because unsent text exists nowhere else. */
function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
