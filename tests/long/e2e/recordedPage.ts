/**
 * Code that runs in the page: it records the state of a live page at each revision of its task, and compares a replay with it. It finds the store and
 * the history session where React keeps them, since the page exposes neither.
 */
import type { Page } from 'playwright'

/** The state of the task in a page at a revision, as text. */
export type States = Readonly<Record<number, string>>

/** Adds the code for the other functions to each page that is opened from now on. */
export async function prepareRecording(page: Page): Promise<void> {
  await page.addInitScript(inPage)
}

/** Records the live page's states from now on. */
export async function startRecording(page: Page): Promise<void> {
  await page.evaluate('recordStates()')
}

/** The last state that the live page held at each revision. */
export async function recordedStates(page: Page): Promise<States> {
  return page.evaluate<States>('Object.fromEntries(recordedStates)')
}

/** The state that the replay shows at each of these revisions. The history must be open and read. */
export async function replayedStates(page: Page, revisions: readonly number[]): Promise<States> {
  return page.evaluate<States>(`replayStates(${JSON.stringify(revisions)})`)
}

const inPage = `
  globalThis.recordedStates = new Map()

  const inReact = (isWanted) => {
    const root = document.getElementById('root')
    const fibers = [root[Object.keys(root).find((key) => key.startsWith('__reactContainer$'))]]
    while (fibers.length > 0) {
      const fiber = fibers.pop()
      const found = Object.values(fiber.memoizedProps ?? {}).find((value) => value && isWanted(value))
      if (found) return found
      for (const next of [fiber.sibling, fiber.child]) if (next) fibers.push(next)
    }
    throw new Error('The page does not have it.')
  }
  const inOrder = (documents) => Object.entries(documents).sort(([a], [b]) => (a < b ? -1 : 1))
  // Members are sorted, because their order differs between read and folded objects, and means nothing.
  const sorted = (_, value) =>
    value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(inOrder(value)) : value
  // The client shows the images of \`picturesSlice.ts\`: a message has them only where an event brought it.
  const withoutImages = (documents) => Object.values(documents).map((document) => ({ ...document, images: [] }))
  const stateIn = ({ task, deleted, chat, logs }) =>
    JSON.stringify({ task, deleted, chat: withoutImages(chat.documents), logs: logs.documents }, sorted)

  globalThis.recordStates = () => {
    const store = inReact((value) => value.getState && value.subscribe && value.dispatch)
    const note = () => {
      const { openTask } = store.getState()
      const revisions = [openTask.task?.version, openTask.chat.at, openTask.logs.at]
      // While the history is being read, the parts of the state are of different revisions.
      if (revisions[0] !== undefined && revisions.every((each) => each === revisions[0]))
        recordedStates.set(revisions[0], stateIn(openTask))
    }
    store.subscribe(note)
    note()
  }

  globalThis.replayStates = (revisions) => {
    const session = inReact((value) => value.replayed && value.indexOf && value.seek)
    return Object.fromEntries(
      revisions.map((revision) => {
        session.seek(session.indexOf(revision))
        return [revision, stateIn(session.replayed().store.getState().openTask)]
      }),
    )
  }
`
