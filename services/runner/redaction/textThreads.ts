/** The threads that look through long texts, so that nobody else waits for it: started when they are first needed, each with one piece of work at a time. */
import { Worker } from 'node:worker_threads'
import type { AnswerTo, Work } from './textWork.ts'

export interface TextThreads {
  /**
   * Does the work in a thread, after what was asked before. If a thread ends, it is replaced and its work done once more; this rejects when that
   * fails too, and once the threads are closed. A caller awaits each answer before it sends more of the same stream, so the queue is bounded by the
   * number of callers.
   */
  run<W extends Work>(work: W): Promise<AnswerTo<W>>
  close(): Promise<void>
}

/** What a thread may use beside the automatons, which are shared. */
const maxMemoryMb = 512
const attempts = 2

interface Waiting {
  readonly work: Work
  /** How often a thread has ended over it. */
  failed: number
  readonly done: (answer: unknown) => void
  readonly fail: (fault: Error) => void
}

export function textThreads({
  most = 2,
  start = startWorker,
}: { readonly most?: number; readonly start?: () => Worker } = {}): TextThreads {
  const waiting: Waiting[] = []
  const idle: Worker[] = []
  const all = new Set<Worker>()
  let isClosed = false

  function next(): void {
    const first = waiting[0]
    if (first === undefined) return
    const thread = idle.pop() ?? (all.size < most ? begun() : undefined)
    if (thread === undefined) return
    waiting.shift()
    doIn(thread, first)
  }
  function begun(): Worker {
    const thread = start()
    all.add(thread)
    // It must not keep alive a process that has nothing else to do.
    thread.unref()
    // One that ends while nothing is asked of it is replaced by the next that is started.
    thread.on('error', () => undefined)
    thread.on('exit', () => {
      all.delete(thread)
      const at = idle.indexOf(thread)
      if (at >= 0) idle.splice(at, 1)
    })
    return thread
  }
  function doIn(thread: Worker, job: Waiting): void {
    const onMessage = (result: { readonly answer: unknown } | { readonly fault: string }) => {
      thread.off('exit', onExit)
      idle.push(thread)
      if ('fault' in result) job.fail(new Error(result.fault))
      else job.done(result.answer)
      next()
    }
    const onExit = () => {
      thread.off('message', onMessage)
      job.failed += 1
      if (isClosed || job.failed >= attempts) job.fail(new Error('The thread ended.'))
      else waiting.unshift(job)
      next()
    }
    thread.once('message', onMessage)
    thread.once('exit', onExit)
    thread.postMessage(job.work, [])
  }

  return {
    run<W extends Work>(work: W) {
      return new Promise<AnswerTo<W>>((done, fail) => {
        if (isClosed) return fail(new Error('The threads are closed.'))
        waiting.push({ work, failed: 0, done: (answer) => done(answer as AnswerTo<W>), fail })
        next()
      })
    },
    async close() {
      isClosed = true
      for (const { fail } of waiting.splice(0)) fail(new Error('The threads are closed.'))
      await Promise.all([...all].map((thread) => thread.terminate()))
    },
  }
}

/** The built server has the worker's file beside it. Run from its sources, as in a test, an older Node needs a loader for them. */
export function startWorker(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: maxMemoryMb }
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new Worker(new URL('textWorker.js', here), { resourceLimits })
  const file = JSON.stringify(new URL('textWorker.ts', here).href)
  const program = `import('tsx/esm/api').then(({ tsImport }) => tsImport(${file}, ${JSON.stringify(here)}))`
  return new Worker(program, { eval: true, resourceLimits })
}
