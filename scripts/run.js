/** Runs a child process to its end: with a time limit, with its output shown or kept, and leaving no process behind. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/** How many characters of a child's output are kept by default. */
const usuallyKept = 200_000
/** How long a process group has to end after it was asked to, in milliseconds. */
const grace = 5_000

/**
 * Children that have not ended. When a signal ends us, we wait for all of them.
 * @type {Set<import('node:child_process').ChildProcess>}
 */
const running = new Set()

/**
 * @typedef {object} RunOptions
 * @property {string} cwd
 * @property {NodeJS.ProcessEnv} env the whole environment of the child
 * @property {number} limit milliseconds after which the child and all it started are ended
 * @property {'show' | 'keep'} output whether its output goes to ours, or is kept and returned
 * @property {number} [nice] by how much others go before it and all that it starts; 0 to 19
 * @property {number} [kept] how much of the output is kept, in characters: the last of it
 */

/**
 * @typedef {object} Ended
 * @property {boolean} ok
 * @property {string} why what went wrong, as the end of a sentence; empty when nothing did
 * @property {string} output the last of what it printed, where it was kept
 */

/**
 * Runs a command without a shell and waits for its end. Never throws. When a signal ends us, the command's process group is ended first.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} options
 * @returns {Promise<Ended>}
 */
export function run(command, args, { cwd, env, limit, output, nice = 0, kept = usuallyKept }) {
  return new Promise((resolve) => {
    const stdio = output === 'show' ? 'inherit' : 'pipe'
    const [program, all] = nice > 0 ? ['nice', ['-n', String(nice), command, ...args]] : [command, args]
    // A process group of its own, so that ending the group also ends what the child started.
    const child = spawn(program, all, { cwd, env, detached: true, stdio: ['ignore', stdio, stdio] })
    running.add(child)

    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8')
      stream?.on('data', (chunk) => {
        text = (text + chunk).slice(-kept)
      })
    }

    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child)
    }, limit)
    let ending = false
    /** @param {NodeJS.Signals} signal */
    const stopped = (signal) => {
      ending = true
      child.once('exit', () => running.size === 0 && process.exit(128 + constants.signals[signal]))
      endGroup(child)
    }
    process.on('SIGINT', stopped).on('SIGTERM', stopped)

    /** @param {string} why */
    const end = (why) => {
      // Nothing is returned, because the caller would go on to its next step while we are about to end.
      if (ending) return
      clearTimeout(timer)
      process.off('SIGINT', stopped).off('SIGTERM', stopped)
      resolve({ ok: why === '', why, output: text })
    }
    child.once('error', (error) => {
      running.delete(child)
      end(`could not be started (${error.message})`)
    })
    // Processes that the child left running would hold the pipes open and delay 'close', so they are ended with the child.
    child.once('exit', () => {
      running.delete(child)
      signalGroup(child, 'SIGKILL')
    })
    child.once('close', (code, signal) => {
      if (timedOut) end(`took longer than ${limit / 1_000} s`)
      else if (signal) end(`was ended by ${signal}`)
      else end(code === 0 ? '' : `ended with exit code ${code}`)
    })
  })
}

/** @param {import('node:child_process').ChildProcess} child */
function endGroup(child) {
  signalGroup(child, 'SIGTERM')
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), grace)
  child.once('exit', () => clearTimeout(timer))
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function signalGroup(child, signal) {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group does not exist: all its processes have ended.
  }
}
