/** The client's start: the token out of the address first, then the store, then the page. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { readToken, tokenKey } from './api/tokenStore.ts'
import { sessionEnded, sessionStarted } from './api/session.ts'
import { App } from './app/App.tsx'
import { loadAhead, loadWherePointed } from './app/loadAhead.ts'
import { createStore } from './app/store.ts'
import { followSystemTheme } from './app/theme.ts'
import { authApi } from './features/auth/authApi.ts'
import { takeToken } from './features/auth/takeToken.ts'
import { tasksApi } from './features/tasks/tasksApi.ts'
import { LiveProvider } from './live/LiveContext.tsx'
import './app/styles.css'

const callback = takeToken(location, history, localStorage)
const { store, live } = createStore(readToken() !== null)

/** How long the first drawing waits for what is to be drawn, in milliseconds: on a slow network it shows that it waits. */
const patienceMs = 300

// The page and who looks at it are asked for together, and drawn at once where they come soon: each wait that is shown costs a third of a second.
async function toBeDrawn(): Promise<void> {
  if (readToken() === null) return
  const { me } = authApi.endpoints
  const { recentTasks } = tasksApi.endpoints
  // Every page counts the tasks that run: they are asked for as soon as it is known who looks.
  const known = store.dispatch(me.initiate(undefined, { subscribe: false })).then(({ data }) => {
    if (data?.user.onboardingCompleted !== true) return undefined
    return store.dispatch(recentTasks.initiate(undefined, { subscribe: false }))
  })
  const late = new Promise((resolve) => setTimeout(resolve, patienceMs))
  await Promise.race([Promise.all([loadAhead(location.pathname), known]), late])
}
loadWherePointed(document)
followSystemTheme()
// Signing in or out in one tab does so in all.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== tokenKey) return
  store.dispatch(newValue === null ? sessionEnded('logout') : sessionStarted())
})

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no place for the client.')
/** Not awaited by the module: a bundler then gives every page what only a task's panels share. */
async function draw(into: HTMLElement): Promise<void> {
  await toBeDrawn()
  createRoot(into).render(
    <StrictMode>
      <Provider store={store}>
        <BrowserRouter>
          <LiveProvider live={live}>
            <App callback={callback} />
          </LiveProvider>
        </BrowserRouter>
      </Provider>
    </StrictMode>,
  )
}
void draw(root)
