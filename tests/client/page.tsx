/** The client in a test: its own pages on its own store, a server with the answers that a test gives, and a live connection that delivers nothing. */
import { configureStore } from '@reduxjs/toolkit'
import { cleanup, configure, render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { Provider } from 'react-redux'
import { MemoryRouter } from 'react-router-dom'
import { onTestFinished, vi } from 'vitest'
import { ActionsProvider } from '../../web/src/actions/ActionsContext.tsx'
import { api } from '../../web/src/api/api.ts'
import { initialSession, type SessionEnd } from '../../web/src/api/session.ts'
import { tokenKey } from '../../web/src/api/tokenStore.ts'
import { App } from '../../web/src/app/App.tsx'
import { rootReducer } from '../../web/src/state/rootReducer.ts'
import type { Live } from '../../web/src/live/live.ts'
import { LiveProvider } from '../../web/src/live/LiveContext.tsx'
import { ada, diffOf } from './samples.ts'
import { fakeServer, type Answers, type FakeServer } from './server.ts'

// Pages are chunks that are loaded when they are first shown, which takes a while on a busy machine. jsdom has no layout: asking for each element
// whether it is visible would take most of a test's time, and say little.
configure({ asyncUtilTimeout: 20_000, defaultHidden: true })

export interface Opening {
  readonly answers?: Answers
  /** Nobody is signed in, because the session ended in this way. */
  readonly signedOut?: SessionEnd
  /** The window is as narrow as a phone's. */
  readonly narrow?: boolean
}

/** A store of the client in which somebody is signed in, or nobody is. */
export function clientStore(signedOut?: SessionEnd) {
  return configureStore({
    reducer: rootReducer,
    preloadedState: {
      session: { ...initialSession, signedIn: signedOut === undefined, end: signedOut ?? 'none' },
    },
    // Redux Toolkit's checks of the whole state after each action are slow, and the product's own tests run them.
    middleware: (defaults) =>
      defaults({ immutableCheck: false, serializableCheck: false }).concat(api.middleware),
  })
}

/** Opens the client at an address. Ada is signed in unless the test says otherwise. The client closes with the test. Needs a DOM. */
export function openPage(
  address: string,
  { answers = {}, signedOut, narrow = false }: Opening = {},
): FakeServer {
  const server = fakeServer({ ...usual, ...answers })
  if (signedOut === undefined) localStorage.setItem(tokenKey, 'token-of-ada')
  makeUpForJsdom({ narrow })
  render(
    <Provider store={clientStore(signedOut)}>
      <MemoryRouter initialEntries={[address]}>
        <LiveProvider live={live}>
          <App callback={null} />
        </LiveProvider>
      </MemoryRouter>
    </Provider>,
  )
  onTestFinished(() => {
    cleanup()
    localStorage.clear()
  })
  return server
}

/** Renders parts of a page without the page, with only the answers that they need. Ada is signed in. The parts are removed with the test. */
export function openPart(part: ReactNode, answers: Answers = {}) {
  const server = fakeServer(answers)
  localStorage.setItem(tokenKey, 'token-of-ada')
  makeUpForJsdom()
  const store = clientStore()
  render(
    <Provider store={store}>
      <MemoryRouter>
        <ActionsProvider>{part}</ActionsProvider>
      </MemoryRouter>
    </Provider>,
  )
  onTestFinished(() => {
    cleanup()
    localStorage.clear()
  })
  return { server, store }
}

/** A connection that is established at once and delivers nothing. */
const live: Live = {
  begin: () => undefined,
  enter: (viewer) => {
    queueMicrotask(() => viewer.connected(async () => ({ joined: true, resync: false, position: null })))
    return () => undefined
  },
}

/** The answers that every page needs. */
const usual: Answers = {
  'GET /auth/me': { user: ada },
  'GET /auth/sessions': { sessions: [] },
  'GET /notices': { notices: [] },
  'GET /tasks': { tasks: [], next: null },
  'GET /projects': { projects: [], next: null },
  'GET /github/repos': { repositories: [] },
}

/** Adds what jsdom lacks. Nothing has a size there. */
function makeUpForJsdom({ narrow = false } = {}): void {
  window.scrollTo = () => undefined
  window.matchMedia = (media) =>
    Object.assign(new EventTarget(), noMedia, { media, matches: !narrow && media !== '(pointer: coarse)' })
  Element.prototype.scrollIntoView = () => undefined
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true
  }
  HTMLDialogElement.prototype.close = function close() {
    this.open = false
  }
  HTMLElement.prototype.showPopover = () => undefined
  // No style sheet is loaded, so only an element's own style counts. Computing styles takes half the time of a test, because each query by role asks
  // for them.
  window.getComputedStyle = (element) => ownStyle(element)
  vi.stubGlobal('ResizeObserver', NoResizing)
  vi.stubGlobal('reportError', (error: unknown) =>
    window.dispatchEvent(new ErrorEvent('error', { error, cancelable: true })),
  )
}

function ownStyle(element: Element): CSSStyleDeclaration {
  const { style } = document.createElement('span')
  if (element.matches(notShown)) style.display = 'none'
  return element instanceof HTMLElement && style.display === '' ? element.style : style
}

/** The elements that a browser's own style sheet hides. */
const notShown = '[hidden], dialog:not([open]), script, style, template'

class NoResizing implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

const noMedia = {
  onchange: null,
  addListener: () => undefined,
  removeListener: () => undefined,
}

/** The server's answers for a task that is opened and has no messages. */
export function openTaskAnswers(task: { readonly id: string; readonly version: number }): Answers {
  const at = `/tasks/${task.id}`
  return {
    [`GET ${at}`]: { task, data: { changedFiles: [] } },
    [`GET ${at}/chat`]: { messages: [], version: task.version },
    [`GET ${at}/commands`]: { logs: [], version: task.version },
    [`GET ${at}/questions`]: { questions: [], version: task.version },
    [`GET ${at}/terminal`]: { output: [], version: -1, deltas: [] },
    [`GET ${at}/ports`]: { ports: [], running: false, unavailable: null },
    [`GET ${at}/git/diff`]: { data: diffOf() },
    [`GET ${at}/pr`]: { pr: null, proposal: { title: 'Task 1', body: 'As asked.' }, autoUpdate: false },
  }
}
