/** The entry point of the chunk that a task page loads when its history is opened. */
import type { Store } from '@reduxjs/toolkit'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { RootState } from '../../../state/rootReducer.ts'
import { authApi } from '../../auth/authApi.ts'
import { personName } from '../chat/entries/MessageOutsideTurn.tsx'
import type { OpenTaskSync } from '../useTaskSync.ts'
import { HistoryAddress } from './HistoryAddress.tsx'
import { LiveHistoryPanel } from './LiveHistoryPanel.tsx'
import { openHistory, type HistorySession } from './historySession.ts'
import { serverSource } from './readHistory.ts'
import { RecordedChanges } from '../replay/RecordedChanges.tsx'
import { ReplayBar } from '../replay/ReplayBar.tsx'
import { ReplayedDock } from '../replay/ReplayedDock.tsx'
import { Scrubber } from '../replay/Scrubber.tsx'

interface LiveTask extends Pick<OpenTaskSync, 'terminal' | 'writing'> {
  readonly task: Task
  readonly live: Store<RootState>
}

export const taskHistory = {
  Panel: LiveHistoryPanel,
  Bar: ReplayBar,
  Scrubber,
  Address: HistoryAddress,
  Dock: ReplayedDock,
  Changes: RecordedChanges,
  openSession({ task, live, terminal, writing }: LiveTask): HistorySession {
    const { githubOwner, githubRepoName } = task.project
    const person = personName(authApi.endpoints.me.select()(live.getState()).data?.user)
    return openHistory({
      live,
      whenPrinted(printed) {
        const stops = [terminal.subscribe(printed), writing.subscribe(printed)]
        return () => stops.forEach((stop) => stop())
      },
      source: serverSource(task.id),
      base: task,
      names: { person, repository: githubRepoName === '' ? '' : `${githubOwner}/${githubRepoName}` },
      frame,
    })
  },
}

/** The interval between frames in milliseconds for people who prefer reduced motion: four frames a second. */
const calmFrameMs = 250

export function frame(run: (now: number) => void): () => void {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
    const timer = setTimeout(() => run(performance.now()), calmFrameMs)
    return () => clearTimeout(timer)
  }
  const drawing = requestAnimationFrame(run)
  return () => cancelAnimationFrame(drawing)
}
