/** The entry point of a saved replay: a separate page that contains the recording and uses no server. */
import { configureStore } from '@reduxjs/toolkit'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { MemoryRouter } from 'react-router-dom'
import type { User } from '#domain/api/auth.schema.ts'
import { ActionsProvider } from '../../../actions/ActionsContext.tsx'
import { api } from '../../../api/api.ts'
import { connectionChanged } from '../../../live/connection.ts'
import { rootReducer } from '../../../state/rootReducer.ts'
import { followSystemTheme } from '../../../state/theme.ts'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { notifyUser } from '../../auth/authApi.ts'
import { imagesApi } from '../../images/imagesApi.ts'
import { openHistory, type HistorySession } from '../history/historySession.ts'
import { frame } from '../history/historyChunk.ts'
import { eventsCame } from '../taskSlice.ts'
import { isRecording, recordedSource, type Recording } from './recording.ts'
import { SavedReplay } from './SavedReplay.tsx'
import { texts } from './texts.ts'
import '../../../styles/styles.css'

function openRecording(recording: Recording): HistorySession {
  const live = configureStore({
    reducer: rootReducer,
    middleware: (defaults) => defaults().concat(api.middleware),
  })
  // A replay has no connection, but the state `connected` keeps its content from counting as outdated.
  live.dispatch(connectionChanged('connected'))
  live.dispatch(notifyUser(personOf(recording)))
  // Fills the cache with the image addresses and subscribes to keep them, because there is no server to ask.
  const { endpoints, util } = imagesApi
  void live
    .dispatch(util.upsertQueryData('imageAddresses', recording.base.id, recording.images.data))
    .then(() => live.dispatch(endpoints.imageAddresses.initiate(recording.base.id)))
  // `picturesSlice.ts` keeps the images of messages outside the task, so they are filled in once, for the whole replay.
  live.dispatch(
    eventsCame(
      recording.items.flatMap((item) =>
        item.kind === 'event' && item.event.type === 'MessageQueued' ? [item.event] : [],
      ),
    ),
  )
  const session = openHistory({
    live,
    whenPrinted: () => () => undefined,
    source: recordedSource(recording),
    base: recording.base,
    names: recording.names,
    frame,
  })
  const stop = session.subscribe(() => {
    if (session.read().load !== 'loaded') return
    stop()
    openThere(session)
  })
  window.addEventListener('hashchange', () => openThere(session))
  // There is no live task to return to, so the replay is only paused.
  return { ...session, backToLive: session.pause }
}

/**
 * Shows the moment that the address names: `#at=46+12s`. Without a moment in the address, shows the end of the first turn, because the page is empty
 * at the beginning.
 */
function openThere(session: HistorySession): void {
  const moment = /^#at=([^&]{1,40})/.exec(window.location.hash)?.[1]?.replace('%2B', '+')
  const { replay, sections } = session.read()
  if (moment !== undefined && moment === replay?.moment) return
  const end = session.indexOf(sections[0]?.knownAt ?? Infinity)
  session.seek(end === -1 ? session.items().length - 1 : end)
  if (moment !== undefined) session.open(moment)
}

/** The owner of the task, for the heads of messages. */
function personOf({ names: { person } }: Recording): User {
  return {
    id: '',
    name: person,
    fullName: '',
    email: null,
    avatar: null,
    onboardingCompleted: true,
    githubConnected: false,
    githubId: null,
    githubUsername: null,
  }
}

function readEmbedded(): Recording | null {
  try {
    const value: unknown = JSON.parse(document.getElementById('recording')?.textContent ?? '')
    return isRecording(value) ? value : null
  } catch {
    return null
  }
}

followSystemTheme()
const root = document.getElementById('root')
if (root === null) throw new Error('No #root')
const recording = readEmbedded()
createRoot(root).render(
  <StrictMode>
    {recording === null ? (
      <main className="mx-auto max-w-192 px-6 pt-16">
        <Empty heading="h1" title={texts.unreadable}>
          {texts.unreadableWhy}
        </Empty>
      </main>
    ) : (
      <MemoryRouter>
        <ActionsProvider>
          <SavedReplay
            session={openRecording(recording)}
            savedAt={recording.savedAt}
            leftOut={{ moments: recording.changes.leftOut, images: recording.images.leftOut }}
          />
        </ActionsProvider>
      </MemoryRouter>
    )}
  </StrictMode>,
)
