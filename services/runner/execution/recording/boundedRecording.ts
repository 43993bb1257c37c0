/**
 * Limits what a run records. The beginning is recorded as it comes. Of the rest, only the last part is kept in memory; it is recorded when the run
 * has ended, after a line that says how much is left out. No run is ended because of its output.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Fence } from '#domain/task/commands.ts'
import { MessagePosted, ToolFinished, type ExecutionKind, type ProgressEvent } from '#domain/task/events.ts'
import { ToolImagesKept } from '#domain/task/toolImageEvents.ts'
import { TerminalOutputRecorded, type TerminalEvent } from '#domain/task/terminalEvents.ts'
import { inMegabytes, type RecordingAllowance } from './recordingAllowance.ts'
import type { Reporter } from './reporter.ts'
import type { TerminalWriter } from './terminalWriter.ts'

export interface Recording {
  readonly terminal: TerminalWriter
  readonly reporter: Reporter
  /** Records the last part of the output, which was kept in memory. Nothing else may be recorded after it. */
  close(): Promise<void>
}

/** The bytes that an event takes in the log in addition to its text. */
export const eventOverhead = 512
/** How many bytes of the last output are kept at most, separately for terminal and chat. */
const longestTail = 1_000_000
/** The last part of the chat is recorded in appends of this size, because EventStoreDB refuses appends of more than 1 MiB. */
const longestPart = { events: 100, bytes: 256_000 }
/**
 * The pause after each piece of unrecorded output, in milliseconds. With it, such output is read no faster than the log could record it: about 4 MB/s
 * per channel.
 */
const paceMs = 4
/**
 * How many reports of usage are recorded at most in a run; a turn has one or two. The same limit applies to measurements of how full the model's
 * context is.
 */
const maxUsages = 1_000
/** After this many bytes were left out, the terminal shows for the first time how many. It shows it again each time that the number has doubled. */
const firstReportBytes = 1_000_000

export function boundedRecording(
  allowance: RecordingAllowance,
  inner: { readonly terminal: TerminalWriter; readonly reporter: Reporter },
  {
    fence,
    kind,
    pause = () => setTimeout(paceMs),
  }: { readonly fence: Fence; readonly kind: ExecutionKind; readonly pause?: () => Promise<unknown> },
): Recording {
  const bounds = { allowance, room: roomWithin(allowance), pause }
  const terminal = boundedTerminal(inner.terminal, bounds, { fence, kind })
  const chat = boundedChat(inner.reporter, bounds, fence)
  return {
    terminal: { ...inner.terminal, append: terminal.append, tell: terminal.tell },
    reporter: { ...inner.reporter, report: chat.report },
    async close() {
      await terminal.close()
      await chat.close()
    },
  }
}

interface Bounds {
  readonly allowance: RecordingAllowance
  readonly room: ReturnType<typeof roomWithin>
  readonly pause: () => Promise<unknown>
}

/**
 * Decides whether an event still fits into the allowance. Images are recorded until half of it is used, terminal output until three quarters, and
 * the chat until all of it. Each of these limits is lower by `tailBytes`, which are kept for the end of the output.
 */
function roomWithin(allowance: RecordingAllowance) {
  const share = { images: 0.5, terminal: 0.75, chat: 1 } as const
  let spent = 0
  const tailBytes = () => Math.min(longestTail, allowance.bytes() / 4)
  return {
    tailBytes,
    take(bytes: number, what: keyof typeof share): boolean {
      if (spent + bytes > share[what] * allowance.bytes() - tailBytes()) return false
      spent += bytes
      allowance.spend(bytes)
      return true
    },
  }
}

function boundedTerminal(
  inner: TerminalWriter,
  { allowance, room, pause }: Bounds,
  { fence, kind }: { readonly fence: Fence; readonly kind: ExecutionKind },
) {
  const printed = tail<TerminalEvent>()
  let isCut = false
  let nextReportBytes = firstReportBytes
  const say = (text: string) =>
    inner.append(TerminalOutputRecorded.of({ ...fence, kind, channel: 'stderr' }, { text: `\n[${text}]\n` }))
  return {
    async append(event: TerminalEvent, onBegun?: () => void): Promise<void> {
      const bytes = Buffer.byteLength(event.content.text) + eventOverhead
      if (!isCut && room.take(bytes, 'terminal')) return inner.append(event, onBegun)
      if (!isCut) {
        isCut = true
        await say(`${allowance.reason()}. It goes on; what it prints last is shown when it has ended.`)
      }
      // Only terminal output is kept for the end. Pieces of a message are not, since the end of a message alone would be useless.
      if (event.type === 'TerminalOutputRecorded') printed.add(event, bytes, room.tailBytes())
      if (printed.leftOut().bytes >= nextReportBytes) {
        nextReportBytes = 2 * printed.leftOut().bytes
        await say(`${inMegabytes(printed.leftOut().bytes)} more were printed.`)
      }
      await pause()
    },
    // Text that will not be recorded is not shown either.
    tell(words: Parameters<TerminalWriter['tell']>[0]): void {
      if (!isCut) inner.tell(words)
    },
    async close(): Promise<void> {
      const { bytes } = printed.leftOut()
      if (bytes > 0) await say(`${inMegabytes(bytes)} that were printed are left out here.`)
      for (const { event } of printed.kept()) await inner.append(event)
    },
  }
}

function boundedChat(inner: Reporter, { allowance, room, pause }: Bounds, { executionId }: Fence) {
  const posted = tail<ProgressEvent>()
  const openTools = new Set<string>()
  let isCut = false
  let usages = 0
  let measures = 0
  const post = (message: string) => {
    const data = { messageId: randomUUID(), messageType: 'system', agent: null, executionId } as const
    return inner.report(MessagePosted.of(data, { message }))
  }
  function leaveOut(event: ProgressEvent, bytes: number): undefined {
    // Messages, and what the agent did unasked, are kept for the end. Other events are only counted: a tool that was recorded at the end would seem
    // to run then.
    if (event.type === 'MessagePosted' || event.type === 'AgentActedUnasked')
      posted.add(event, bytes, room.tailBytes())
    else posted.drop(bytes)
    return undefined
  }
  function recordedNow(event: ProgressEvent): ProgressEvent | undefined {
    const bytes = Buffer.byteLength(JSON.stringify(event.content)) + eventOverhead
    const fits = () => !isCut && room.take(bytes, 'chat')
    switch (event.type) {
      case 'ToolStarted':
        if (!fits()) return leaveOut(event, bytes)
        openTools.add(event.data.toolId)
        return event
      case 'ToolImagesKept': {
        const { toolId, images, leftOut } = event.data
        if (!openTools.has(toolId)) return undefined
        const stored = images.reduce((sum, { blob }) => sum + blob.size, bytes)
        const isKept = !isCut && room.take(stored, 'images')
        return isKept
          ? event
          : ToolImagesKept.of({ ...event.data, images: [], leftOut: leftOut + images.length })
      }
      case 'ToolFinished':
        // If the start of a tool was recorded, its end must be too.
        if (!openTools.delete(event.data.toolId)) return leaveOut(event, bytes)
        return fits() ? event : ToolFinished.of(event.data, { summary: '', output: '' })
      case 'MessagePosted':
      case 'ThinkingRecorded':
      case 'SubagentSaid':
      case 'AgentActedUnasked':
        return fits() ? event : leaveOut(event, bytes)
      case 'UsageRecorded':
        usages += 1
        return usages <= maxUsages ? event : undefined
      case 'ContextMeasured':
        measures += 1
        return measures <= maxUsages ? event : undefined
      default:
        return event
    }
  }
  return {
    async report(...progress: readonly ProgressEvent[]): Promise<void> {
      const now = progress.flatMap((event) => recordedNow(event) ?? [])
      const isFirstCut = !isCut && posted.isUsed()
      if (isFirstCut) isCut = true
      await Promise.all([
        ...(now.length > 0 ? [inner.report(...now)] : []),
        ...(isFirstCut
          ? [post(`${allowance.reason()}. It goes on; what it says last is shown when it has ended.`)]
          : []),
      ])
      if (now.length === 0 && !isFirstCut) await pause()
    },
    async close(): Promise<void> {
      const { count } = posted.leftOut()
      if (count > 0) await post(`${count} messages and calls of tools are left out here.`)
      for (const part of inParts(posted.kept())) await inner.report(...part)
    },
  }
}

interface Kept<Event> {
  readonly event: Event
  readonly bytes: number
}

/** The events in parts that each fit into one append, whatever the engine is. */
function inParts<Event>(kept: readonly Kept<Event>[]): readonly (readonly Event[])[] {
  const parts: Event[][] = []
  let room = 0
  for (const { event, bytes } of kept) {
    const part = parts.at(-1)
    if (part && part.length < longestPart.events && bytes <= room) part.push(event)
    else {
      parts.push([event])
      room = longestPart.bytes
    }
    room -= bytes
  }
  return parts
}

/** Keeps the last events, up to a number of bytes. */
function tail<Event>() {
  let events: Kept<Event>[] = []
  let first = 0
  let kept = 0
  const leftOut = { bytes: 0, count: 0 }
  const drop = (bytes: number) => {
    leftOut.bytes += bytes
    leftOut.count += 1
  }
  return {
    drop,
    add(event: Event, bytes: number, most: number): void {
      events.push({ event, bytes })
      kept += bytes
      while (kept > most && first < events.length) {
        const dropped = events[first]?.bytes ?? 0
        first += 1
        kept -= dropped
        drop(dropped)
      }
      if (2 * first < events.length) return
      events = events.slice(first)
      first = 0
    },
    isUsed: () => events.length > 0 || leftOut.count > 0,
    leftOut: () => leftOut,
    kept: (): readonly Kept<Event>[] => events.slice(first),
  }
}
