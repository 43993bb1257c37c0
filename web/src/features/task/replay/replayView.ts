/** Presents a replayed moment in the same forms as the live task: a store, a terminal, and the text being written. */
import type { Store } from '@reduxjs/toolkit'
import type { MessageWords } from '#domain/api/chat.schema.ts'
import type { RootState } from '../../../state/rootReducer.ts'
import { written, type WrittenMessage, type Writing } from '../chat/streamingText.ts'
import type { OpenTask } from '../taskSlice.ts'
import type { TerminalLog, TerminalView } from '../terminal/log/terminalLog.ts'
import type { OpenTaskSync } from '../useTaskSync.ts'
import type { Replayed } from './engine.ts'

export interface ReplayView {
  /** The live store, with the open task replaced. */
  readonly store: Store<RootState>
  readonly open: OpenTaskSync
  show(replayed: Replayed, words: readonly MessageWords[]): void
}

/** `reload` is called by panels that want to be read again. */
export function createReplayView(live: Store<RootState>, first: Replayed, reload: () => void): ReplayView {
  const listeners = new Set<() => void>()
  const tell = () => {
    for (const listener of listeners) listener()
  }
  let openTask = first.state.openTask
  const terminal = shownTerminal(first)
  const writing = shownWriting(first.state.writing)
  return {
    store: storeWith(live, () => openTask, listeners),
    open: { terminal: terminal.log, writing: writing.writing, reload },
    show(replayed, words) {
      terminal.show(replayed)
      writing.show(replayed.state.writing, words)
      if (openTask === replayed.state.openTask) return
      openTask = replayed.state.openTask
      tell()
    },
  }
}

/** A store that differs only in the open task; dispatched actions go to the live store. */
function storeWith(
  live: Store<RootState>,
  openTask: () => OpenTask,
  listeners: Set<() => void>,
): Store<RootState> {
  let known: { readonly live: RootState; readonly openTask: OpenTask; readonly state: RootState } | null =
    null
  return {
    ...live,
    getState() {
      const [state, task] = [live.getState(), openTask()]
      if (known?.live !== state || known.openTask !== task)
        known = { live: state, openTask: task, state: { ...state, openTask: task } }
      return known.state
    },
    subscribe(listener) {
      listeners.add(listener)
      const stop = live.subscribe(listener)
      return () => {
        listeners.delete(listener)
        stop()
      }
    },
  }
}

function shownTerminal(first: Replayed) {
  const listeners = new Set<() => void>()
  let view = viewOf(first, 0)
  let at = first.index
  const log: TerminalLog = {
    read: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    // A replayed terminal is complete, and only the replay appends to it.
    reset: async () => undefined,
    append: () => undefined,
    showEarlier: async () => undefined,
    fail: () => undefined,
  }
  return {
    log,
    show(replayed: Replayed) {
      if (replayed.index === at) return
      at = replayed.index
      view = viewOf(replayed, view.change + 1)
      for (const listener of listeners) listener()
    },
  }
}

function viewOf({ writer }: Replayed, change: number): TerminalView {
  const { lines, blocks } = writer
  return { lines, commands: blocks.all, change, earlier: 'none', state: 'loaded', reason: '' }
}

function shownWriting(first: readonly WrittenMessage[]) {
  const listeners = new Set<() => void>()
  let shown = first
  const writing: Writing = {
    read: () => shown,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reset: () => undefined,
    append: () => undefined,
    say: () => undefined,
    settle: () => undefined,
    drop: () => undefined,
    // Nothing in a replay is announced to screen readers, because the person moves through it deliberately.
    wasSeen: () => true,
  }
  return {
    writing,
    show(recorded: readonly WrittenMessage[], words: readonly MessageWords[]) {
      const next = words.length === 0 ? recorded : written(recorded, words)
      if (next === shown) return
      shown = next
      for (const listener of listeners) listener()
    },
  }
}
