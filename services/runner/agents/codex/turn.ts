/** Converts the reports of one of codex's turns to events: texts, thoughts, tools and its to-do list. */
import { maxLineLength, mostTools, mostWritten, openTools } from '../parser.ts'
import type { AgentEvent } from '../port.ts'
import { withoutAddress } from './fault.ts'
import type { Change, Item, Told, ToolItem } from './lines.ts'
import { todoEvents, toolFinished, toolStarted } from './tools.ts'

export interface TurnReader {
  read(told: Told): readonly AgentEvent[]
  /** The planned changes of an edit that is under way; otherwise `undefined`. */
  changesOf(itemId: string): readonly Change[] | undefined
  /** Returns `undefined` while codex keeps within all limits. Otherwise says which limit it exceeds, in a clause such as `it writes without end`. */
  excess(): string | undefined
  /** Ends the texts and tools that are still open. */
  end(): readonly AgentEvent[]
}

interface Writing {
  readonly kind: 'text' | 'thinking'
  readonly messageKey: string
  text: string
}

/** Starts to read a turn. `turnId` makes the ids of the turn's items unique, whatever ids the model's API uses. */
export function turnReader(turnId: string, workspace: string): TurnReader {
  const keyOf = (itemId: string) => `${turnId}/${itemId}`
  const tools = openTools()
  const texts = textReader(keyOf)
  const edits = plannedEdits()
  let lists = 0
  let begun = 0

  function tool(item: ToolItem, isWhole: boolean): readonly AgentEvent[] {
    const key = keyOf(item.id)
    if (item.type === 'fileChange') edits.plan(item.id, isWhole ? undefined : item.changes)
    const isNew = tools.get(key) === undefined
    if (isNew) begun += 1
    const begins = isNew ? [tools.start(toolStarted(key, item, workspace))] : []
    if (!isWhole) return begins
    tools.take(key)
    return [...begins, toolFinished(key, item, workspace)]
  }
  function read(item: Item, isWhole: boolean): readonly AgentEvent[] {
    switch (item.type) {
      case 'agentMessage':
        return isWhole ? texts.finish(item.id, 'text', item.text) : []
      case 'reasoning': {
        const { summary, content } = item
        const thought = (summary.length > 0 ? summary : content).join('\n\n')
        return isWhole ? texts.finish(item.id, 'thinking', thought) : []
      }
      case 'contextCompaction':
        return isWhole ? [{ type: 'compacted' }] : []
      // A message that steers interrupts the text that is being written.
      case 'userMessage':
        return isWhole ? texts.breakOff() : []
      case 'plan':
      case 'other':
        return []
      default:
        return tool(item, isWhole)
    }
  }
  return {
    read(told) {
      switch (told.method) {
        case 'item/started':
        case 'item/completed':
          return read(told.params.item, told.method === 'item/completed')
        case 'item/agentMessage/delta':
          return texts.write(told.params.itemId, 'text', told.params.delta)
        case 'item/reasoning/summaryTextDelta':
          return texts.write(told.params.itemId, 'thinking', told.params.delta)
        case 'item/reasoning/summaryPartAdded':
          return texts.has(told.params.itemId) ? texts.write(told.params.itemId, 'thinking', '\n\n') : []
        case 'turn/plan/updated':
          lists += 1
          return todoEvents(keyOf(`todos-${lists}`), told.params.plan)
        case 'thread/tokenUsage/updated': {
          const { tokenUsage: used } = told.params
          const context = used && { usedTokens: used.last.totalTokens, windowTokens: used.modelContextWindow }
          return context === null ? [] : [{ type: 'context', context }]
        }
        case 'error':
          // An error after which codex does not try again is reported once more at the end of the turn.
          if (!told.params.willRetry) return []
          texts.retry()
          return [notice(retrySentence(told.params.error))]
        default:
          return []
      }
    },
    changesOf: edits.get,
    excess() {
      if (texts.written() > mostWritten) return 'it writes without end'
      if (begun + lists > mostTools) return 'it uses tools without end'
      return edits.length() > maxLineLength ? 'it changes files without end' : undefined
    },
    end: () => [...texts.breakOff(), ...tools.abandon()],
  }
}

function plannedEdits() {
  const edits = new Map<string, readonly Change[]>()
  let length = 0
  const lengthOf = (changes: readonly Change[] = []) =>
    changes.reduce((sum, { path, diff }) => sum + path.length + diff.length, 0)
  return {
    get: (itemId: string): readonly Change[] | undefined => edits.get(itemId),
    /** Keeps the planned changes of an edit. With `undefined`, drops them, because the edit is over. */
    plan(itemId: string, changes: readonly Change[] | undefined): void {
      length += lengthOf(changes) - lengthOf(edits.get(itemId))
      if (changes === undefined) edits.delete(itemId)
      else edits.set(itemId, changes)
    },
    /** The number of characters of all changes that are kept. */
    length: () => length,
  }
}

/** Collects texts and thoughts while they are written, by the id of their item. */
function textReader(keyOf: (itemId: string) => string) {
  const writing = new Map<string, Writing>()
  /** Texts of an answer that was interrupted and requested again. A new text replaces the first of them that has the same kind. */
  let retried: readonly Writing[] = []
  let written = 0

  function begin(
    itemId: string,
    kind: Writing['kind'],
  ): { readonly one: Writing; readonly said: AgentEvent[] } {
    const known = writing.get(itemId)
    if (known !== undefined) return { one: known, said: [] }
    const before = retried.find((broken) => broken.kind === kind)
    retried = retried.filter((broken) => broken !== before)
    const messageKey = before?.messageKey ?? keyOf(itemId)
    const one = { kind, messageKey, text: '' }
    writing.set(itemId, one)
    written += itemId.length
    return { one, said: before === undefined ? [] : [{ type: 'text_restarted', messageKey }] }
  }
  const begun = () => [...retried, ...writing.values()].filter(({ text }) => text !== '')
  return {
    /** The number of characters of all texts and thoughts so far, including the ids of their items. */
    written: () => written,
    has: (itemId: string): boolean => (writing.get(itemId)?.text ?? '') !== '',
    write(itemId: string, kind: Writing['kind'], text: string): readonly AgentEvent[] {
      if (text === '') return []
      const { one, said } = begin(itemId, kind)
      one.text += text
      written += text.length
      return [...said, { type: `${kind}_delta`, messageKey: one.messageKey, text }]
    },
    finish(itemId: string, kind: Writing['kind'], text: string): readonly AgentEvent[] {
      if (text === '' && !writing.has(itemId)) return []
      const { one, said } = begin(itemId, kind)
      writing.delete(itemId)
      return [...said, { type: kind, messageKey: one.messageKey, text, cut: false }]
    },
    retry() {
      retried = begun()
      writing.clear()
    },
    /** Ends the unfinished texts. */
    breakOff(): readonly AgentEvent[] {
      const broken = begun()
      retried = []
      writing.clear()
      return broken.map(({ kind, messageKey, text }) => ({ type: kind, messageKey, text, cut: true }))
    },
  }
}

const notice = (text: string): AgentEvent => ({ type: 'notice', text })

type ErrorWords = Extract<Told, { method: 'error' }>['params']['error']

function retrySentence({ message, additionalDetails }: ErrorWords): string {
  const [, attempt, most] = /^Reconnecting\.\.\. (\d+)\/(\d+)/.exec(message) ?? []
  const count = attempt === undefined ? '' : ` (${attempt} of ${most})`
  const why = withoutAddress(additionalDetails ?? '').trim() || 'The connection to the model broke off.'
  return `${why} Trying again${count}.`
}
