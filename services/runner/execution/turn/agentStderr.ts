/** Passes an agent's standard error on to the turn that runs. */
import type { SandboxedProcess } from '../../sandbox/port.ts'

type Take = (chunk: Buffer) => Promise<void>

/** Reads standard error only as fast as `take` of the running turn records it. Output between two turns waits for the next turn. */
export function forwardStderr(child: Pick<SandboxedProcess, 'stderr'>) {
  let begin: (take: Take) => void = () => {}
  const nextTurn = () => new Promise<Take>((resolve) => (begin = resolve))
  let taker = nextTurn()
  let writing: Promise<void> = Promise.resolve()
  const ended = (async () => {
    for await (const chunk of child.stderr) {
      const take = await taker
      writing = take(Buffer.from(chunk))
      // A fault is ignored here, because `pause` throws it to the turn that called it.
      await writing.catch(() => undefined)
    }
  })()
  return {
    /** Resolves once the process has ended and all of its standard error was forwarded. */
    ended: ended.catch(() => undefined),
    forwardTo(next: Take) {
      begin(next)
      taker = Promise.resolve(next)
    },
    async pause() {
      taker = nextTurn()
      await writing
    },
  }
}
