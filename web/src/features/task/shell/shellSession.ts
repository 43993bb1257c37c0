/** This page's use of a person's shell: opens it over the live connection, and sends input in order. */
import type { Live } from '../../../live/live.ts'
import type { LiveSocket } from '../../../live/liveSocket.ts'
import { createObserved, type Observed } from '../observedValue.ts'
import { texts } from './texts.ts'

export type ShellState =
  | { readonly kind: 'connecting' }
  | {
      readonly kind: 'open'
      readonly shellId: string
      readonly isShared: boolean
      /** Whether the last input was refused, because too much already waits for the program. */
      readonly isFull: boolean
    }
  | { readonly kind: 'refused' | 'gone'; readonly reason: string }

export interface ShellSession extends Observed<ShellState> {
  /** Opens a shell, or joins the one that is open. Does nothing while offline. */
  open(): Promise<void>
  /** Follows the live connection until the returned function is called: on each connection, opens or joins a shell if one is wanted. */
  follow(isWanted: () => boolean): () => void
  type(text: string): void
  resize(size: Size): void
  close(): void
}

interface Size {
  readonly rows: number
  readonly columns: number
}

/** How long to wait for an answer, in milliseconds. The server itself waits for up to 20 seconds. */
const answerTimeoutMs = 25_000
const longestInput = 8_192
/** The most characters that wait in the page for a program that does not read them. */
const maxWaiting = 1_000_000

export function shellSession(taskId: string, live: Live): ShellSession {
  const state = createObserved<ShellState>({ kind: 'connecting' })
  const waiting = waitingInput()
  let isSending = false
  let size: Size = { rows: 24, columns: 80 }
  const shellId = (): string | null => {
    const now = state.read()
    return now.kind === 'open' ? now.shellId : null
  }
  let socket: LiveSocket | undefined
  const emitter = () =>
    socket?.isConnected() === true ? (socket.raw?.timeout(answerTimeoutMs) ?? null) : null

  /** Sends what was typed, and waits for the program to take it before sending more. */
  async function send(): Promise<void> {
    const id = shellId()
    const to = emitter()
    if (isSending || id === null || to === null || waiting.isEmpty()) return
    isSending = true
    const taken = await to.emitWithAck('shell_input', taskId, id, waiting.take()).catch(() => null)
    isSending = false
    // Without an answer, the connection counts as lost: the waiting input is dropped, and the next connection joins again.
    if (taken === 'gone' && shellId() === id) state.set({ kind: 'gone', reason: texts.gone })
    else if (taken === null) waiting.clear()
    else await send()
  }

  function tellSize(): void {
    const id = shellId()
    if (id !== null)
      void emitter()
        ?.emitWithAck('shell_resize', taskId, id, size)
        .catch(() => undefined)
  }

  async function open(): Promise<void> {
    const to = emitter()
    if (to === null) return
    waiting.clear()
    state.set({ kind: 'connecting' })
    const opening = await to.emitWithAck('shell_open', taskId, size).catch(() => null)
    if (opening === null) return state.set({ kind: 'refused', reason: texts.notAnswered })
    if (!opening.opened) return state.set({ kind: 'refused', reason: opening.error })
    state.set({ kind: 'open', shellId: opening.shellId, isShared: opening.shared, isFull: false })
    // A joined shell may have another size, and the page's size may have changed meanwhile.
    tellSize()
  }

  const nothing = () => undefined
  return {
    ...state,
    open,
    follow: (isWanted) =>
      live.enter({
        taskId,
        connected(_join, connected) {
          socket = connected
          if (isWanted()) void open()
        },
        taskEvent: nothing,
        chatMessage: nothing,
        terminalOutput: nothing,
        words: nothing,
        messageDelta: nothing,
        statusChanged: nothing,
        resync: nothing,
      }),
    type(text) {
      // Input typed while offline or without a shell is dropped: sent later, it could do harm that nobody notices.
      if (emitter() === null || shellId() === null) return
      const isFull = !waiting.add(text)
      const now = state.read()
      if (now.kind === 'open' && now.isFull !== isFull) state.set({ ...now, isFull })
      void send()
    },
    resize(next) {
      size = next
      tellSize()
    },
    close() {
      const id = shellId()
      if (id !== null)
        void emitter()
          ?.emitWithAck('shell_close', taskId, id)
          .catch(() => undefined)
    },
  }
}

/** Input that was typed or pasted and is not sent yet. */
export function waitingInput() {
  let text = ''
  return {
    /** Returns `false`, and takes nothing of `more`, if too much would wait. */
    add(more: string): boolean {
      if (text.length + more.length > maxWaiting) return false
      text += more
      return true
    },
    isEmpty: () => text === '',
    /** The next piece to send; it never ends within a surrogate pair. */
    take(): string {
      const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(longestInput - 1))
      const piece = text.slice(0, isSplit ? longestInput - 1 : longestInput)
      text = text.slice(piece.length)
      return piece
    },
    clear: () => void (text = ''),
  }
}
