/** Opens a task, and keeps it open for as long as its page is shown. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { messageDocumentId } from '#domain/views/chat.ts'
import { useAppStore } from '../../state/hooks.ts'
import { selectLive } from '../../live/connection.ts'
import { useLive } from '../../live/LiveContext.tsx'
import { loadMarkdown } from './chat/markdown/loadMarkdown.ts'
import { createWriting, type Writing } from './chat/streamingText.ts'
import { selectOpenTask } from './taskSlice.ts'
import { openTaskSync, type TaskSync } from './taskSync.ts'
import { readEarlier } from './terminal/log/readTerminal.ts'
import { createTerminalLog, type TerminalLog } from './terminal/log/terminalLog.ts'

/** The parts of an open task that are outside of the store, and a function to read the task again. */
export interface OpenTaskSync {
  readonly terminal: TerminalLog
  readonly writing: Writing
  readonly reload: () => void
}

export function useTaskSync(taskId: string): OpenTaskSync {
  const store = useAppStore()
  const live = useLive()
  const [terminal] = useState(() => createTerminalLog((before) => readEarlier(taskId, before)))
  const [writing] = useState(createWriting)
  const sync = useRef<TaskSync | null>(null)
  useEffect(() => {
    const opened = openTaskSync(taskId, {
      dispatch: store.dispatch,
      live,
      terminal,
      writing,
      needsRefresh: () => {
        const state = store.getState()
        const status = selectOpenTask(state).task?.status
        return status === 'pending' || (!selectLive(state) && (status === 'queued' || status === 'running'))
      },
      isCommand: (messageId) =>
        selectOpenTask(store.getState()).chat.documents[messageDocumentId(taskId, messageId)]?.isCommand ===
        true,
    })
    sync.current = opened
    return () => {
      sync.current = null
      opened.close()
    }
  }, [taskId, store, live, terminal, writing])
  useEffect(() => {
    // If loading fails, the first message that needs Markdown tries again.
    loadMarkdown().catch(() => undefined)
  }, [])
  const reload = useCallback(() => sync.current?.reload(), [])
  return { terminal, writing, reload }
}
