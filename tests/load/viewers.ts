/** A process with viewers, for the row `live`: it connects, joins and counts on request. */
import { io, type Socket } from 'socket.io-client'
import { z } from 'zod'
import type { ClientEvents, JoinAnswer, ServerEvents } from '#domain/api/socket.schema.ts'

const plan = z
  .object({
    url: z.string(),
    kind: z.enum(['watch', 'crowd']),
    tasks: z.array(z.string()).min(1),
    viewers: z.number(),
    last: z.string().nullable(),
    /** The number of lines that each viewer must receive before it counts as back. */
    missed: z.number(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''))

const say = (said: string, more: object = {}) => process.send?.({ said, ...more })

/** Connects, joins, and resolves when everything that was missed has arrived. */
function comeBack(taskId: string, onLine: (text: string) => void): Promise<void> {
  const socket: Socket<ServerEvents, ClientEvents> = io(plan.url, {
    auth: { token: 'good' },
    transports: ['websocket'],
    forceNew: true,
    timeout: 60_000,
  })
  return new Promise((resolve, reject) => {
    let heard = 0
    let isJoined = false
    const look = () => isJoined && heard >= plan.missed && resolve()
    socket.on('terminal_output', ({ content }) => {
      heard += 1
      onLine(content)
      look()
    })
    socket.on('connect', () =>
      socket.emit('join_task', taskId, plan.last, (answer: JoinAnswer) => {
        if (!answer.joined || answer.resync) reject(new Error('It could not join.'))
        isJoined = true
        look()
      }),
    )
  })
}

let late: number[] = []
process.on('message', (message) => {
  if (message === 'count') late = []
  if (message === 'report') say('report', { late })
  if (message === 'go') void everybody()
})

async function everybody(): Promise<void> {
  const all = Array.from({ length: plan.viewers }, (_, n) =>
    comeBack(plan.tasks[n % plan.tasks.length] ?? '', () => undefined),
  )
  await Promise.all(all)
  say('back')
}

if (plan.kind === 'crowd') say('ready')
else {
  await comeBack(plan.tasks[0] ?? '', (text) => {
    const due = Number(/^due (\d+)/.exec(text)?.[1])
    late.push(Date.now() - due)
  })
  say('ready')
}
