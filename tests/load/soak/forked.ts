/** A process of the soak that runs a script of this folder, and with which it exchanges messages. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

export interface Forked {
  readonly pid: number
  /** Sends a message, if there is one, and resolves to the next message whose `said` is `said`. */
  answer<Schema extends z.ZodType>(
    said: string,
    schema: Schema,
    message?: object | string,
  ): Promise<z.infer<Schema>>
  end(): Promise<void>
}

const Said = z.object({ said: z.string() })

const running = new Set<ChildProcess>()
// One listener for all of them, because Node warns of many.
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))

export function startForked(
  script: `${string}.ts`,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Forked {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const child = fork(file, args, { execArgv: ['--import', 'tsx'], env: { ...process.env, ...env } })
  running.add(child)
  const gone = once(child, 'exit')
  return {
    pid: child.pid ?? 0,
    answer: (said, schema, message) =>
      new Promise((resolve, reject) => {
        const listen = (heard: unknown) => {
          if (Said.parse(heard).said !== said) return
          child.off('message', listen)
          try {
            resolve(schema.parse(heard))
          } catch (fault) {
            reject(fault)
          }
        }
        child.on('message', listen)
        void gone.then(() => reject(new Error(`${script} ended before it said '${said}'.`)))
        if (message !== undefined) child.send(message)
      }),
    async end() {
      child.kill('SIGKILL')
      await gone
      running.delete(child)
    },
  }
}
