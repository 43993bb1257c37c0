// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fileOf } from '../../../../../tests/client/samples.ts'
import { readDiffs } from './diff/readDiffs.ts'
import { FileTree } from './FileTree.tsx'

test.each([
  ['on a phone', false, 44],
  ['on a wide screen', true, 28],
])('the rows of the tree are below each other %s', (_, isWide, height) => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: isWide }))
  onTestFinished(() => {
    cleanup()
    vi.unstubAllGlobals()
  })
  const files = readDiffs([fileOf('a.ts'), fileOf('b.ts')])
  render(<FileTree files={files} viewed={new Set()} current={null} onChoose={() => undefined} />)
  expect(screen.getAllByRole('treeitem').map(({ style }) => style.transform)).toEqual([
    'translateY(0px)',
    `translateY(${height}px)`,
  ])
  expect(screen.getByRole('tree').style.height).toBe(`${2 * height}px`)
})
