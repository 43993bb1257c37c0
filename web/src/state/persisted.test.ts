import { describe, expect, test } from 'vitest'
import { splitPosition } from '../features/task/splitPosition.ts'
import {
  chatDrafts,
  draftDescription,
  forgetPersonal,
  recall,
  remember,
  selectedAgent,
  selectedModel,
  selectedProjectId,
  type Persisted,
} from './persisted.ts'

function storage(): Pick<Storage, 'getItem' | 'setItem'> {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
  }
}

describe('what the browser keeps', () => {
  // Holds contract 9.23a.
  test('begins with claude, o4-mini, no draft, no project, and the chat at 40 percent', () => {
    const fresh = storage()
    expect(recall(selectedAgent, fresh)).toBe('claude')
    expect(recall(selectedModel, fresh)).toBe('o4-mini')
    expect(recall(draftDescription, fresh)).toBe('')
    expect(recall(selectedProjectId, fresh)).toBe('')
    expect(recall(splitPosition, fresh)).toBe(40)
  })

  // Holds contract 9.23b.
  test('is there again: agent, model, draft description, selected project and split position', () => {
    const kept = storage()
    const again = <Value>(thing: Persisted<Value>, value: Value) => {
      remember(thing, value, kept)
      return recall(thing, kept)
    }
    expect(again(selectedAgent, 'cursor')).toBe('cursor')
    expect(again(selectedModel, 'o3')).toBe('o3')
    expect(again(draftDescription, 'Half a thought')).toBe('Half a thought')
    expect(again(selectedProjectId, 'p1')).toBe('p1')
    expect(again(splitPosition, 55)).toBe(55)
    // Each value is stored under its own key.
    expect(recall(selectedAgent, kept)).toBe('cursor')
  })

  test('is without drafts once the person has left, and with the choices that are nobody’s', () => {
    const kept = new Map<string, string>()
    const place = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    }
    remember(selectedAgent, 'cursor', place)
    remember(draftDescription, 'A secret', place)
    remember(chatDrafts, { t1: 'Another secret' }, place)
    forgetPersonal(place)
    expect([...kept]).toEqual([['selectedAgent', 'cursor']])
  })

  test('of drafts of chats is only what is text', () => {
    const kept = storage()
    for (const [text, drafts] of [
      ['{"t1":"a","t2":5}', { t1: 'a' }],
      ['nonsense', {}],
      ['null', {}],
    ] as const) {
      kept.setItem('chatDrafts', text)
      expect(recall(chatDrafts, kept)).toEqual(drafts)
    }
  })
})
