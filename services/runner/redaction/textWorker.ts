/** The thread that scans long texts. It keeps no state between pieces of work. */
import { parentPort } from 'node:worker_threads'
import { answerTo, type Work } from './textWork.ts'

parentPort?.on('message', (work: Work) => {
  try {
    parentPort?.postMessage({ answer: answerTo(work) }, [])
  } catch (fault) {
    const failure = { fault: fault instanceof Error ? fault.message : String(fault) }
    parentPort?.postMessage(failure, [])
  }
})
