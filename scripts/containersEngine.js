/** Runs the container engine of the system's package with a socket and folders of its own, so that another engine on the machine is not touched. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { installEnvironment } from './environment.js'
import { run } from './run.js'
import { findProgram, installForSystem } from './system.js'

/**
 * Where the engine is, and the names of the images that are built for it: the tests look there as well. The names say that they are
 * not what a registry has under its own.
 * @typedef {{ folder: string, images: Record<'node' | 'nats' | 'ferretdb' | 'service' | 'runner', string> }} Known
 */

/** @type {Known} */
export const known = JSON.parse(readFileSync(new URL('containers.json', import.meta.url), 'utf8'))
const { folder } = known
const dataFolder = '/var/lib/flightdeck-containers'
const pidFile = `${folder}/dockerd.pid`
const logFile = `${folder}/dockerd.log`
const socket = `${folder}/docker.sock`
/** The address on which the engine listens. */
export const containerHost = `unix://${socket}`

/** Whether an engine listens where tests look for one: the system's own engine, or the one that this script starts. */
export const hasEngine = () => existsSync('/var/run/docker.sock') || existsSync(socket)

const startMs = 60_000
const stopMs = 30_000

/** The packages that bring engine, client and builder. Later releases of Debian split them into several. */
const packages = ['docker.io', 'docker-cli', 'docker-buildx']

/** The engine fetches images and the builder fetches packages, through proxies and with certificates; neither needs a key of ours. */
const engineEnvironment = installEnvironment(process.env)

/**
 * The system's own client: another one on PATH may lack the builder.
 * @param {readonly string[]} args
 * @param {number} limit milliseconds
 */
export async function docker(args, limit) {
  const builder = { DOCKER_BUILDKIT: '1', BUILDKIT_PROGRESS: 'plain' }
  const env = { ...engineEnvironment, DOCKER_HOST: containerHost, ...builder }
  const ended = await run('/usr/bin/docker', args, { cwd: '/', env, limit, output: 'keep' })
  if (!ended.ok)
    throw new Error(`${ended.output.trim().slice(-4_000)}\ndocker ${args[0] ?? ''} ${ended.why}.`)
  return ended.output
}

/** Installs the engine if it is missing, and starts it unless it runs. The engine keeps running when this process ends. */
export async function startEngine() {
  if (!findProgram('dockerd', process.env)) {
    console.log('Installing docker.io…')
    await installForSystem(packages, { cwd: '/', env: process.env })
    if (!findProgram('dockerd', process.env)) throw new Error('docker.io cannot be installed.')
  }
  if (await answers()) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // An engine that was killed leaves its pid file behind, and would not start again.
  rmSync(pidFile, { force: true })
  const log = openSync(logFile, 'w')
  const places = ['--data-root', dataFolder, '--exec-root', `${folder}/exec`, '--pidfile', pidFile]
  // The machine's network rules stay as they are. A process forwards the ports that containers publish, from loopback only.
  const network = ['--iptables=false', '--ip6tables=false', '--ip', '127.0.0.1']
  const args = [...places, '-H', containerHost, ...network]
  const engine = spawn('dockerd', args, {
    cwd: '/',
    env: engineEnvironment,
    detached: true,
    stdio: ['ignore', log, log],
  })
  const failed = new Promise((_, reject) => {
    engine.once('error', reject)
    engine.once('exit', (code) =>
      reject(new Error(`dockerd ended with ${code}.\n${readFileSync(logFile, 'utf8').slice(-2_000)}`)),
    )
  })
  await Promise.race([untilAnswers(), failed])
  engine.removeAllListeners()
  engine.unref()
  console.log(`The engine runs, process ${engine.pid}.`)
}

/** Stops the engine and the containers in it. Images and volumes stay in its folder, whose path is printed. */
export async function stopEngine() {
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : Number.NaN
  if (!Number.isInteger(pid) || !(await answers())) {
    console.log('No engine of ours runs.')
    return
  }
  process.kill(pid, 'SIGTERM')
  for (const end = Date.now() + stopMs; existsSync(pidFile); await pause(100)) {
    if (Date.now() > end) throw new Error(`The engine, process ${pid}, does not end.`)
  }
  console.log(`The engine has ended. Its images and volumes are in ${dataFolder}.`)
}

async function untilAnswers() {
  for (const end = Date.now() + startMs; !(await answers()); await pause(100)) {
    if (Date.now() > end) throw new Error(`The engine does not answer. Its log is ${logFile}.`)
  }
}

async function answers() {
  if (!existsSync(socket)) return false
  return docker(['version'], 10_000).then(
    () => true,
    () => false,
  )
}
