/** What the browser remembers between visits: choices and drafts, each under a key of its own, each forgotten if it makes no sense. */
import { defaultAgent, isAgentName, type AgentName } from '#domain/agents.ts'
import { defaultModel, isModelName } from '#domain/kernel/names.ts'
import { useCallback, useEffect, useState } from 'react'

/** A remembered thing: where it is, and how its text is read; `null` from `read` means it makes no sense. */
export interface Persisted<Value> {
  readonly key: string
  readonly initial: Value
  readonly read: (text: string) => Value | null
  readonly write: (value: Value) => string
  /** Whether it belongs to the person, so that it goes when they log out. */
  readonly personal: boolean
}

const personalText = {
  initial: '',
  read: (kept: string) => kept,
  write: (value: string) => value,
  personal: true,
}
/** Texts by what they belong to. */
const personalTexts: Omit<Persisted<Readonly<Record<string, string>>>, 'key'> = {
  initial: {},
  read: readDrafts,
  write: JSON.stringify,
  personal: true,
}

export const selectedAgent: Persisted<AgentName> = {
  key: 'selectedAgent',
  initial: defaultAgent,
  read: (kept) => (isAgentName(kept) ? kept : null),
  write: (value) => value,
  personal: false,
}
export const selectedModel: Persisted<string> = {
  key: 'selectedModel',
  initial: defaultModel,
  read: (kept) => (isModelName(kept) ? kept : null),
  write: (value) => value,
  personal: false,
}
export const draftDescription: Persisted<string> = { key: 'draftDescription', ...personalText }
export const selectedProjectId: Persisted<string> = { key: 'selectedProjectId', ...personalText }
/** What was being written in the chats, by task; the task that was written in last is the last. */
export const chatDrafts: Persisted<Readonly<Record<string, string>>> = {
  key: 'chatDrafts',
  ...personalTexts,
}
/** Whether the person wants no more of the next steps that somebody new is shown. */
export const firstStepsPutAway: Persisted<boolean> = {
  key: 'firstStepsPutAway',
  initial: false,
  read: (kept) => kept === 'yes',
  write: (value) => (value ? 'yes' : 'no'),
  personal: true,
}
/** Percent of the width that the chat has. */
export const splitPosition: Persisted<number> = {
  key: 'splitPosition',
  initial: 40,
  read: (kept) =>
    Number.isFinite(Number(kept)) && kept.trim() !== '' ? Math.min(80, Math.max(20, Number(kept))) : null,
  write: (value) => String(value),
  personal: false,
}

/** Whether the person wants to be told of a task's end while they look elsewhere; the browser has to allow it as well. */
export const desktopNotifications: Persisted<'unasked' | 'on' | 'off'> = {
  key: 'desktopNotifications',
  initial: 'unasked',
  read: (kept) => (kept === 'on' || kept === 'off' ? kept : null),
  write: (value) => value,
  personal: false,
}
/** Whether a diff shows both sides beside each other. */
export const diffLook: Persisted<'unified' | 'split'> = {
  key: 'diffLook',
  initial: 'unified',
  read: (kept) => (kept === 'unified' || kept === 'split' ? kept : null),
  write: (value) => value,
  personal: false,
}
/** Hashes of the changes that were looked at, by task, with spaces between. */
export const viewedFiles: Persisted<Readonly<Record<string, string>>> = {
  key: 'viewedFiles',
  ...personalTexts,
}
/** Comments on changes that were not sent yet, by where they stand. */
export const commentDrafts: Persisted<Readonly<Record<string, string>>> = {
  key: 'commentDrafts',
  ...personalTexts,
}

/** Messages that were made of feedback and edited, by task and feedback. */
export const feedbackDrafts: Persisted<Readonly<Record<string, string>>> = {
  key: 'feedbackDrafts',
  ...personalTexts,
}

/** Whose the personal things are. */
const owner: Persisted<string> = { key: 'owner', ...personalText }

const all = [
  selectedAgent,
  selectedModel,
  draftDescription,
  selectedProjectId,
  chatDrafts,
  firstStepsPutAway,
  splitPosition,
  diffLook,
  viewedFiles,
  commentDrafts,
  feedbackDrafts,
  owner,
] as const

function readDrafts(kept: string): Readonly<Record<string, string>> | null {
  const drafts: unknown = JSON.parse(kept)
  if (typeof drafts !== 'object' || drafts === null) return null
  return Object.fromEntries(
    Object.entries(drafts).flatMap(([taskId, draft]: [string, unknown]) =>
      typeof draft === 'string' ? [[taskId, draft]] : [],
    ),
  )
}

export function recall<Value>(
  thing: Persisted<Value>,
  storage: Pick<Storage, 'getItem'> = localStorage,
): Value {
  try {
    const kept = storage.getItem(thing.key)
    return (kept === null ? null : thing.read(kept)) ?? thing.initial
  } catch {
    return thing.initial
  }
}

export function remember<Value>(
  thing: Persisted<Value>,
  value: Value,
  storage: Pick<Storage, 'setItem'> = localStorage,
): void {
  try {
    storage.setItem(thing.key, thing.write(value))
  } catch {
    // A full or closed storage forgets; the page goes on.
  }
}

/** Keeps the personal things for this person: what somebody else left behind is forgotten. */
export function keepFor(userId: string): void {
  if (![userId, ''].includes(recall(owner))) forgetPersonal()
  remember(owner, userId)
}

/** Forgets what belongs to the person who leaves. */
export function forgetPersonal(storage: Pick<Storage, 'removeItem'> = localStorage): void {
  try {
    for (const { key, personal } of all) if (personal) storage.removeItem(key)
  } catch {
    // Nothing was kept.
  }
}

const changed = 'flightdeck:changed:'

/** Changes what is remembered, also where a page shows it just now. */
export function changeElsewhere<Value>(thing: Persisted<Value>, value: Value): void {
  remember(thing, value)
  window.dispatchEvent(new CustomEvent(changed + thing.key, { detail: thing.write(value) }))
}

/** A remembered value and how to change it. */
export function usePersisted<Value>(thing: Persisted<Value>): readonly [Value, (value: Value) => void] {
  const [value, setValue] = useState(() => recall(thing))
  useEffect(() => {
    const onChanged = (event: Event) => {
      if (event instanceof CustomEvent) setValue(thing.read(String(event.detail)) ?? thing.initial)
    }
    window.addEventListener(changed + thing.key, onChanged)
    return () => window.removeEventListener(changed + thing.key, onChanged)
  }, [thing])
  const change = useCallback(
    (next: Value) => {
      setValue(next)
      remember(thing, next)
    },
    [thing],
  )
  return [value, change]
}
