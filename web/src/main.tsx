/** The client's entry: takes the token of a sign-in out of the address, then creates the store, then renders the page. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Provider } from 'react-redux'
import { BrowserRouter } from 'react-router-dom'
import { readToken } from './api/tokenStore.ts'
import { App } from './app/App.tsx'
import { firstRenderReady } from './app/loading/firstRender.ts'
import { loadWherePointed } from './app/loading/pages.ts'
import { createStore, followOtherTabs } from './app/store.ts'
import { followSystemTheme } from './state/theme.ts'
import { takeToken } from './features/auth/AuthCallback.tsx'
import { LiveProvider } from './live/LiveContext.tsx'
import './styles/styles.css'

const callback = takeToken(location, history)
const { store, live } = createStore(readToken() !== null)

loadWherePointed(document)
followSystemTheme()
followOtherTabs(store)

const root = document.getElementById('root')
if (root === null) throw new Error('No #root')
/** A function, since an `await` at the top level of the module would make every page load code that only the panels of a task need. */
async function render(into: HTMLElement): Promise<void> {
  await firstRenderReady(store, location.pathname)
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
void render(root)
