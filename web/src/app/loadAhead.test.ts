// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { loadAhead, loadWherePointed, type LoadChunk } from './loadAhead.ts'

function loading() {
  const loaded: string[] = []
  const load: LoadChunk = async (chunk) => {
    loaded.push(chunk)
    throw new Error('There is no connection.')
  }
  return { loaded, load }
}

test.each([
  ['/', ['frame', 'dashboard']],
  ['/dashboard', ['frame', 'dashboard']],
  ['/projects', ['frame', 'projects']],
  ['/projects/new', ['frame', 'newProject']],
  ['/projects/p1', ['frame', 'project']],
  ['/tasks/t1', ['frame', 'task']],
  ['/settings', ['frame', 'settings']],
  ['/nowhere', []],
])('at %s %j are loaded; that they do not come is for the page to tell', (path, chunks) => {
  const { loaded, load } = loading()
  loadAhead(path, load)
  expect(loaded).toEqual(chunks)
})

test('what a link leads to is loaded when somebody points at it, and nothing of other sites', () => {
  const { loaded, load } = loading()
  loadWherePointed(document, load)
  document.body.innerHTML =
    '<a href="https://elsewhere.example/settings"><b>out</b></a><a href="/tasks/t1"><b>in</b></a><b>none</b>'
  for (const word of document.querySelectorAll('b'))
    word.dispatchEvent(new Event('pointerover', { bubbles: true }))
  expect(loaded).toEqual(['frame', 'task'])
})
