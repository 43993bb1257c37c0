/**
 * Bounds what a run records. The beginning goes to the log as it comes. Of the rest only the last part is kept, in memory; it goes to the log
 * when the run has ended, after a line that says how much is left out. A run is never ended for what it prints.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Fence } from '#domain/task/commands.ts'
import { MessagePosted, ToolFinished, type ExecutionKind, type ProgressEvent } from '#domain/task/events.ts'
import { TerminalOutputRecorded, type TerminalEvent } from '#domain/task/terminal.ts'
import { inMegabytes, type RecordingAllowance } from './recordingAllowance.ts'
import type { Reporter } from './reporter.ts'
import type { TerminalWriter } from './terminalWriter.ts'

export interface Recording {
  readonly terminal: TerminalWriter
  readonly reporter: Reporter
  /** Records the last part of what was cut. Nothing else may be recorded after it. */
  close(): Promise<void>
}

/** What an event takes in the log besides its text; bytes. */
const eventOverhead = 512
/** The most that is kept for the end, of the terminal and of the chat each; bytes. */
const longestTail = 1_000_000
/** Output that is not recorded is read no faster than the log would take it: about 4 MB/s a channel. */
const paceMs = 4
/** Usage reports of a run; a turn has one or two. */
const mostUsages = 1_000
/** The terminal first tells after this many unrecorded bytes how much was printed, and then each time it has doubled. */
const firstTold = 1_000_000

export function boundedRecording(
  allowance: RecordingAllowance,
  inner: { readonly terminal: TerminalWriter; readonly reporter: Reporter },
  {
    fence,
    kind,
    pause = () => setTimeout(paceMs),
  }: { readonly fence: Fence; readonly kind: ExecutionKind; readonly pause?: () => Promise<unknown> },
): Recording {
  const tailBytes = () => Math.min(longestTail, allowance.bytes() / 4)
  /** A quarter is left for the chat, however much is printed. */
  const room = { terminal: 0.75, chat: 1 } as const
  let spent = 0
  const mayTake = (bytes: number, what: keyof typeof room): boolean => {
    if (spent + bytes > room[what] * allowance.bytes() - tailBytes()) return false
    spent += bytes
    allowance.spend(bytes)
    return true
  }
  const say = (text: string) =>
    inner.terminal.append(
      TerminalOutputRecorded.of({ ...fence, kind, channel: 'stderr' }, { text: `\n[${text}]\n` }),
    )
  const post = (message: string) => {
    const data = { messageId: randomUUID(), messageType: 'system', agent: null } as const
    return inner.reporter.report(MessagePosted.of({ ...data, executionId: fence.executionId }, { message }))
  }

  const printed = tail<TerminalEvent>()
  let isTerminalCut = false
  let told = firstTold
  async function append(event: TerminalEvent): Promise<void> {
    const bytes = Buffer.byteLength(event.content.text) + eventOverhead
    if (!isTerminalCut && mayTake(bytes, 'terminal')) return inner.terminal.append(event)
    if (!isTerminalCut) {
      isTerminalCut = true
      await say(`${allowance.reason()}. It goes on; what it prints last is shown when it has ended.`)
    }
    // Of a message only the whole is of use.
    if (event.type === 'TerminalOutputRecorded') printed.add(event, bytes, tailBytes())
    if (printed.leftOut().bytes >= told) {
      told = 2 * printed.leftOut().bytes
      await say(`${inMegabytes(printed.leftOut().bytes)} more were printed.`)
    }
    await pause()
  }

  const posted = tail<ProgressEvent>()
  const openTools = new Set<string>()
  let isChatCut = false
  let usages = 0
  /** What of it goes to the log now. */
  function within(event: ProgressEvent): ProgressEvent | undefined {
    const bytes = Buffer.byteLength(JSON.stringify(event.content)) + eventOverhead
    const fits = () => !isChatCut && mayTake(bytes, 'chat')
    switch (event.type) {
      case 'ToolStarted':
        if (!fits()) return leaveOut(event, bytes)
        openTools.add(event.data.toolId)
        return event
      case 'ToolFinished':
        // A tool that was seen to start is seen to end.
        if (!openTools.delete(event.data.toolId)) return leaveOut(event, bytes)
        return fits() ? event : ToolFinished.of(event.data, { summary: '', output: '' })
      case 'MessagePosted':
        return fits() ? event : leaveOut(event, bytes)
      case 'UsageRecorded':
        usages += 1
        return usages <= mostUsages ? event : undefined
      default:
        return event
    }
  }
  function leaveOut(event: ProgressEvent, bytes: number): undefined {
    // Tools that are told of at the end would look as if they ran then: they are counted only.
    if (event.type === 'MessagePosted') posted.add(event, bytes, tailBytes())
    else posted.drop(bytes)
    return undefined
  }
  async function report(...progress: readonly ProgressEvent[]): Promise<void> {
    const now = progress.flatMap((event) => within(event) ?? [])
    const isNews = !isChatCut && posted.isUsed()
    if (isNews) isChatCut = true
    await Promise.all([
      ...(now.length > 0 ? [inner.reporter.report(...now)] : []),
      ...(isNews
        ? [post(`${allowance.reason()}. It goes on; what it says last is shown when it has ended.`)]
        : []),
    ])
    if (now.length === 0 && !isNews) await pause()
  }

  return {
    terminal: {
      ...inner.terminal,
      append,
      // What will not be recorded is not shown either.
      tell: (words) => {
        if (!isTerminalCut) inner.terminal.tell(words)
      },
    },
    reporter: { ...inner.reporter, report },
    async close() {
      const { bytes } = printed.leftOut()
      if (bytes > 0) await say(`${inMegabytes(bytes)} that were printed are left out here.`)
      for (const event of printed.kept()) await inner.terminal.append(event)
      const { count } = posted.leftOut()
      if (count > 0) await post(`${count} messages and calls of tools are left out here.`)
      if (posted.kept().length > 0) await inner.reporter.report(...posted.kept())
    },
  }
}

/** The last that were added, up to a number of bytes. */
function tail<Event>() {
  let events: { readonly event: Event; readonly bytes: number }[] = []
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
    kept: () => events.slice(first).map(({ event }) => event),
  }
}
