/** Choices and drafts that the browser remembers between visits. Each has its own key, and is discarded when it is invalid. */
import { defaultAgent, isAgentName, type AgentName } from '#domain/agents.ts'
import { noChosenModel, isModelName } from '#domain/kernel/names.ts'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import { tryOr } from './tryOr.ts'

/** A remembered value: its key, and how to parse it; `read` returns `null` for an invalid text. */
export interface Persisted<Value> {
  readonly key: string
  readonly initial: Value
  readonly read: (text: string) => Value | null
  readonly write: (value: Value) => string
}

const personalText = (key: string): Persisted<string> => ({
  key,
  initial: '',
  read: (stored) => stored,
  write: (value) => value,
})
/** Several texts, such as drafts, each under the id of the task or the place that it belongs to. */
const personalTexts = (key: string): Persisted<Readonly<Record<string, string>>> => ({
  key,
  initial: {},
  read: readDrafts,
  write: JSON.stringify,
})
const choice = <Value extends string>(
  key: string,
  initial: Value,
  read: (stored: string) => Value | null,
): Persisted<Value> => ({ key, initial, read, write: (value) => value })
const oneOf =
  <const Value extends string>(...values: readonly Value[]) =>
  (stored: string) =>
    values.find((value) => value === stored) ?? null

export const selectedAgent = choice<AgentName>('selectedAgent', defaultAgent, (stored) =>
  isAgentName(stored) ? stored : null,
)
export const selectedModel = choice<string>('selectedModel', noChosenModel, (stored) =>
  isModelName(stored) ? stored : null,
)
/** How freely an agent works on a new task. */
export const selectedMode = choice<AgentMode>('selectedMode', 'free', oneOf('plan', 'ask'))
export const draftDescription = personalText('draftDescription')
export const selectedProjectId = personalText('selectedProjectId')
/** Drafts of chat messages, by task; the most recently edited is last. */
export const chatDrafts = personalTexts('chatDrafts')
/** Whether the person has dismissed the first steps shown to newcomers. */
export const firstStepsPutAway: Persisted<boolean> = {
  key: 'firstStepsPutAway',
  initial: false,
  read: (stored) => stored === 'yes',
  write: (value) => (value ? 'yes' : 'no'),
}

/** Whether the person wants notifications from a page in the background; the browser must also allow them. */
export const desktopNotifications = choice<'unasked' | 'on' | 'off'>(
  'desktopNotifications',
  'unasked',
  oneOf('on', 'off'),
)
/** Whether diffs are shown side by side. */
export const diffLook = choice<'unified' | 'split'>('diffLook', 'unified', oneOf('unified', 'split'))
/** For each task, the hashes of the changes that the person has viewed, separated by spaces. */
export const viewedFiles = personalTexts('viewedFiles')
/** Drafts of comments on changes, by their location. */
export const commentDrafts = personalTexts('commentDrafts')
/** Edited messages made from feedback, by task and feedback. */
export const feedbackDrafts = personalTexts('feedbackDrafts')
/** Drafts of answers to agents' questions, by task and question. */
export const answerDrafts = personalTexts('answerDrafts')

const owner = personalText('owner')

/** The values that belong to the person. All other values stay in the browser when the person logs out. */
const personal = [
  draftDescription,
  selectedProjectId,
  chatDrafts,
  firstStepsPutAway,
  viewedFiles,
  commentDrafts,
  feedbackDrafts,
  answerDrafts,
  owner,
] as const

function readDrafts(stored: string): Readonly<Record<string, string>> | null {
  const drafts: unknown = JSON.parse(stored)
  if (typeof drafts !== 'object' || drafts === null) return null
  return Object.fromEntries(
    Object.entries(drafts).flatMap(([taskId, draft]: [string, unknown]) =>
      typeof draft === 'string' ? [[taskId, draft]] : [],
    ),
  )
}

export function recall<Value>(thing: Persisted<Value>, storage?: Pick<Storage, 'getItem'>): Value {
  return tryOr(() => {
    const stored = (storage ?? localStorage).getItem(thing.key)
    return (stored === null ? null : thing.read(stored)) ?? thing.initial
  }, thing.initial)
}

/** Stores a value. If the storage is full or blocked, the value is lost, but the page goes on. */
export function remember<Value>(
  thing: Persisted<Value>,
  value: Value,
  storage?: Pick<Storage, 'setItem'>,
): void {
  tryOr(() => (storage ?? localStorage).setItem(thing.key, thing.write(value)), undefined)
}

/** Stores that the personal values in this browser belong to this person. First removes the values of anybody else. */
export function keepFor(userId: string): void {
  if (![userId, ''].includes(recall(owner))) forgetPersonal()
  remember(owner, userId)
}

/** Removes the personal values, when the person leaves or somebody else has signed in. */
export function forgetPersonal(storage?: Pick<Storage, 'removeItem'>): void {
  tryOr(() => {
    for (const { key } of personal) (storage ?? localStorage).removeItem(key)
  }, undefined)
}
