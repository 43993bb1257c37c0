/** What the browser remembers between visits: choices and drafts, each under its own key, each discarded when it is invalid. */
import { defaultAgent, isAgentName, type AgentName } from '#domain/agents.ts'
import { defaultModel, isModelName } from '#domain/kernel/names.ts'
import { useCallback, useEffect, useState } from 'react'

/** A remembered value: its key, and how to parse it; `read` returns `null` for an invalid text. */
export interface Persisted<Value> {
  readonly key: string
  readonly initial: Value
  readonly read: (text: string) => Value | null
  readonly write: (value: Value) => string
  /** Whether it belongs to the person, and so is removed when they log out. */
  readonly personal: boolean
}

const personalText = {
  initial: '',
  read: (kept: string) => kept,
  write: (value: string) => value,
  personal: true,
}
/** Texts, by what they belong to. */
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
/** Drafts of chat messages, by task; the most recently edited is last. */
export const chatDrafts: Persisted<Readonly<Record<string, string>>> = {
  key: 'chatDrafts',
  ...personalTexts,
}
/** Whether the person has dismissed the first steps shown to newcomers. */
export const firstStepsPutAway: Persisted<boolean> = {
  key: 'firstStepsPutAway',
  initial: false,
  read: (kept) => kept === 'yes',
  write: (value) => (value ? 'yes' : 'no'),
  personal: true,
}
/** The chat's share of the width, in percent. */
export const splitPosition: Persisted<number> = {
  key: 'splitPosition',
  initial: 40,
  read: (kept) =>
    Number.isFinite(Number(kept)) && kept.trim() !== '' ? Math.min(80, Math.max(20, Number(kept))) : null,
  write: (value) => String(value),
  personal: false,
}

/** Whether the person wants notifications when a task ends while they look elsewhere; the browser must also allow it. */
export const desktopNotifications: Persisted<'unasked' | 'on' | 'off'> = {
  key: 'desktopNotifications',
  initial: 'unasked',
  read: (kept) => (kept === 'on' || kept === 'off' ? kept : null),
  write: (value) => value,
  personal: false,
}
/** Whether diffs are shown side by side. */
export const diffLook: Persisted<'unified' | 'split'> = {
  key: 'diffLook',
  initial: 'unified',
  read: (kept) => (kept === 'unified' || kept === 'split' ? kept : null),
  write: (value) => value,
  personal: false,
}
/** Hashes of viewed changes, by task, separated by spaces. */
export const viewedFiles: Persisted<Readonly<Record<string, string>>> = {
  key: 'viewedFiles',
  ...personalTexts,
}
/** Drafts of comments on changes, by their place. */
export const commentDrafts: Persisted<Readonly<Record<string, string>>> = {
  key: 'commentDrafts',
  ...personalTexts,
}

/** Edited messages made from feedback, by task and feedback. */
export const feedbackDrafts: Persisted<Readonly<Record<string, string>>> = {
  key: 'feedbackDrafts',
  ...personalTexts,
}

/** The owner of the personal values. */
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
    // With a full or blocked storage the value is lost, but the page goes on.
  }
}

/** Claims the personal values for this person: those of somebody else are removed. */
export function keepFor(userId: string): void {
  if (![userId, ''].includes(recall(owner))) forgetPersonal()
  remember(owner, userId)
}

/** Removes the personal values when the person leaves. */
export function forgetPersonal(storage: Pick<Storage, 'removeItem'> = localStorage): void {
  try {
    for (const { key, personal } of all) if (personal) storage.removeItem(key)
  } catch {
    // Nothing was kept.
  }
}

const changed = 'flightdeck:changed:'

/** Changes a remembered value, also in components that show it now. */
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
