// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { loadWherePointed, pages, type PartsAt, partsAt, preload } from './pages.ts'

test.each([
  ['/', pages.Dashboard],
  ['/dashboard', pages.Dashboard],
  ['/projects', pages.Projects],
  ['/projects/new', pages.CreateProject],
  ['/projects/p1', pages.ProjectDetail],
  ['/projects/p1/settings', pages.OtherPages],
  ['/figures', pages.OtherPages],
  ['/tasks/t1', pages.TaskDetail],
  ['/settings', pages.Settings],
])('at %s there are the frame and its page', (path, page) => {
  expect(partsAt(path)).toEqual([pages.Frame, page])
})

test('at an address that is none nothing is loaded', () => expect(partsAt('/nowhere')).toEqual([]))

function loading() {
  const loaded: string[] = []
  const parts: PartsAt = (pathname) => [
    {
      load: async () => {
        loaded.push(pathname)
        throw new Error('There is no connection.')
      },
    },
  ]
  return { loaded, parts }
}

test('that a page does not come is for the page to tell', async () => {
  const { loaded, parts } = loading()
  await preload('/settings', parts)
  expect(loaded).toEqual(['/settings'])
})

test('what a link leads to is loaded when somebody points at it, and nothing of other sites', () => {
  const { loaded, parts } = loading()
  loadWherePointed(document, parts)
  document.body.innerHTML =
    '<a href="https://elsewhere.example/settings"><b>out</b></a><a href="/tasks/t1"><b>in</b></a><b>none</b>'
  for (const word of document.querySelectorAll('b'))
    word.dispatchEvent(new Event('pointerover', { bubbles: true }))
  expect(loaded).toEqual(['/tasks/t1'])
})
