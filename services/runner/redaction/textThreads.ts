/**
 * Threads that scan long texts, so that the main thread can go on meanwhile. They are started when they are first needed, and each does one piece of
 * work at a time.
 */
import { Worker } from 'node:worker_threads'
import type { AnswerTo, Work } from './textWork.ts'

export interface TextThreads {
  /**
   * Does the work in a thread; work is begun in the order of the calls. If the thread ends, another one does the work once more. Rejects when the
   * work throws, when the second thread ends too, or after the threads are closed. Callers await each answer before they send more of a stream, so
   * the queue is never longer than the number of callers.
   */
  run<W extends Work>(work: W): Promise<AnswerTo<W>>
  close(): Promise<void>
}

/** The maximum memory of a thread in MB. The automatons that find secrets do not count, because threads share them. */
const maxMemoryMb = 512
const attempts = 2

interface Waiting {
  readonly work: Work
  /** How many times a thread has ended during this work. */
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
    // The thread must not keep a process alive that has nothing else to do.
    thread.unref()
    // Without a listener, an 'error' would end this process. The thread has ended then, and the next thread that is started replaces it.
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

/** Starts a thread. The built server loads `textWorker.js` beside it. From sources, as in a test, `tsx` loads `textWorker.ts`. */
export function startWorker(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: maxMemoryMb }
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new Worker(new URL('textWorker.js', here), { resourceLimits })
  const file = JSON.stringify(new URL('textWorker.ts', here).href)
  const program = `import('tsx/esm/api').then(({ tsImport }) => tsImport(${file}, ${JSON.stringify(here)}))`
  return new Worker(program, { eval: true, resourceLimits })
}
