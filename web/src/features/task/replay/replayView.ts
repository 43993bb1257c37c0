/** Presents a replayed moment in the same forms as the live task: a store, a terminal, and the text that is being written. */
import type { Store } from '@reduxjs/toolkit'
import type { MessageFragment } from '#domain/api/chat.schema.ts'
import type { RootState } from '../../../state/rootReducer.ts'
import { withPieces, type WrittenMessage, type Writing } from '../chat/streamingText.ts'
import { createObserved, type Observed } from '../observedValue.ts'
import type { OpenTask } from '../taskSlice.ts'
import type { TerminalLog, TerminalView } from '../terminal/log/terminalLog.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import type { Replayed } from './replayEngine.ts'

export type ReplayView = ReturnType<typeof createReplayView>

/** The panels call `reload` when their content has to be read again. */
export function createReplayView(live: Store<RootState>, first: Replayed, reload: () => void) {
  const openTask = createObserved(first.state.openTask)
  const terminal = createObserved(viewOf(first, 0))
  let printedAt = first.index
  const writing = createObserved(first.state.writing)
  return {
    /** A store like the live one, but with the open task as it was at the shown moment. */
    store: storeWith(live, openTask),
    open: {
      terminal: shownTerminal(terminal),
      writing: shownWriting(writing),
      reload,
    } satisfies OpenTaskSync,
    show(replayed: Replayed, words: readonly MessageFragment[]): void {
      const { state, index } = replayed
      if (index !== printedAt) terminal.set(viewOf(replayed, terminal.read().change + 1))
      printedAt = index
      const messages = words.length === 0 ? state.writing : withPieces(state.writing, words)
      if (messages !== writing.read()) writing.set(messages)
      if (state.openTask !== openTask.read()) openTask.set(state.openTask)
    },
  }
}

/** A store that differs only in the open task; dispatched actions go to the live store. */
function storeWith(live: Store<RootState>, openTask: Observed<OpenTask>): Store<RootState> {
  let known: { readonly live: RootState; readonly state: RootState } | null = null
  return {
    ...live,
    getState() {
      const [state, task] = [live.getState(), openTask.read()]
      if (known?.live !== state || known.state.openTask !== task)
        known = { live: state, state: { ...state, openTask: task } }
      return known.state
    },
    subscribe(listener) {
      const stops = [openTask.subscribe(listener), live.subscribe(listener)]
      return () => stops.forEach((stop) => stop())
    },
  }
}

/** A replayed terminal is complete, and only the replay appends to it. */
function shownTerminal({ read, subscribe }: Observed<TerminalView>): TerminalLog {
  const nothing = () => undefined
  return {
    read,
    subscribe,
    reset: async () => undefined,
    append: nothing,
    showEarlier: async () => undefined,
    fail: nothing,
  }
}

function viewOf({ writer }: Replayed, change: number): TerminalView {
  const { lines, blocks, shell } = writer
  return { lines, commands: blocks.all, shell, change, earlier: 'none', state: 'loaded', reason: '' }
}

function shownWriting({ read, subscribe }: Observed<readonly WrittenMessage[]>): Writing {
  const nothing = () => undefined
  return {
    read,
    subscribe,
    reset: nothing,
    append: nothing,
    appendLive: nothing,
    settle: nothing,
    drop: nothing,
    // Every message counts as seen while it was being written, so that it stays expanded.
    wasSeen: () => true,
  }
}
