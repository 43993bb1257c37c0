/**
 * Runs in the page: notes the state that a live page holds at each revision of its task, and holds a replay to it. The store and the
 * history session are found where React keeps them, since the page gives them to nobody.
 */
import type { Page } from 'playwright'

/** What a page holds of its task at a revision, as text. */
export type States = Readonly<Record<number, string>>

/** Puts what the other functions use into each page that is opened from now on. */
export async function prepareRecording(page: Page): Promise<void> {
  await page.addInitScript(inPage)
}

/** Notes the live page's states from now on. */
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
  // The order of an object's members says nothing: what was read comes in another than what was folded.
  const sorted = (_, value) =>
    value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(inOrder(value)) : value
  const stateIn = ({ task, deleted, chat, logs }) =>
    JSON.stringify({ task, deleted, chat: chat.documents, logs: logs.documents }, sorted)

  globalThis.recordStates = () => {
    const store = inReact((value) => value.getState && value.subscribe && value.dispatch)
    const note = () => {
      const { openTask } = store.getState()
      const revisions = [openTask.task?.version, openTask.chat.at, openTask.logs.at]
      // While it is being read, its parts are of different revisions.
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
