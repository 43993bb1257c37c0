/** The agent of wakingAgent.ts as a program: it wakes up at random, many times a second, also while it waits for its next message. */
import { createInterface } from 'node:readline'
import { createWakingAgent } from './wakingAgent.ts'

const named = (flag: string) => process.argv[process.argv.indexOf(flag) + 1]
const isNew = process.argv.includes('--session-id')
const agent = createWakingAgent({
  sessionId: named(isNew ? '--session-id' : '--resume') ?? '',
  chance: Math.random,
  print: (line) => void process.stdout.write(`${JSON.stringify(line)}\n`),
})
let isClosed = false
createInterface(process.stdin)
  .on('line', (line) => {
    // The first line only makes the program begin.
    if (line !== '') agent.hear(line)
  })
  .on('close', () => {
    isClosed = true
  })
setInterval(() => {
  if (Math.random() < 0.15) agent.wake()
  agent.step()
  if (isClosed) process.exit(0)
})
