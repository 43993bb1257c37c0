/** A program that takes one job after another. A line on its standard input says what to do with each: `working` or `ack`. */
import { createInterface } from 'node:readline'
import { openNatsJobs } from '#platform/jobs/nats.ts'
import { openNats } from '#platform/bus/natsConnection.ts'
import type { Delivery } from '#platform/ports/jobs.ts'

const [url = '', namespace = '', kind = '', leaseMs = '0'] = process.argv.slice(2)
const nats = await openNats({ url, onFault: () => {}, onWaiting: () => {} })
const jobs = await openNatsJobs({ nats, namespace, onFault: () => {}, onWaiting: () => {} })
const say = (word: string): void => void process.stdout.write(`${word}\n`)
let held: Delivery | undefined
jobs.work(kind, { concurrency: 1, leaseMs: Number(leaseMs) }, (delivery) => {
  held = delivery
  say(`has ${delivery.job.id}`)
  return new Promise(() => {})
})
for await (const word of createInterface(process.stdin)) {
  const done = word === 'ack' ? held?.ack() : held?.working()
  await done?.then(
    () => say('ok'),
    (fault: unknown) => say(fault instanceof Error ? fault.name : 'fault'),
  )
}
