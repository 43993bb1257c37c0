// @vitest-environment jsdom
/** What one tab keeps of the changes beside what another tab has kept since. */
import { act, cleanup, renderHook } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { commentDrafts, recall, remember, viewedFiles } from '../../../state/persisted.ts'
import { useComment } from './useComment.ts'
import { useViewed } from './useFileMarks.ts'

afterEach(() => {
  cleanup()
  localStorage.clear()
})

test('a draft leaves the drafts of another tab', () => {
  const { result } = renderHook(() => useComment('task'))
  remember(commentDrafts, { theirs: 'their words' })
  act(() => result.current.write('my words'))
  expect(Object.values(recall(commentDrafts))).toEqual(['their words', 'my words'])
})

test('a mark leaves the marks of another tab', () => {
  const { result } = renderHook(() => useViewed('task'))
  remember(viewedFiles, { task: 'aa', other: 'bb' })
  act(() => result.current.setViewed('cc', true))
  expect(recall(viewedFiles)).toEqual({ other: 'bb', task: 'aa cc' })
})
