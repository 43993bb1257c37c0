/** The dialogue with an agent made with the protocol's own SDK, which checks each message that it reads against the schema. */
import {
  agent,
  ndJsonStream,
  type PermissionOption,
  type PromptResponse,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { permissionOptions } from '#domain/task/questionEvents.ts'
import type { AgentEvent } from '../port.ts'
import { acpDialogue } from './dialogue.ts'

const toolCall: ToolCallUpdate = { toolCallId: 'call', title: 'npm test', kind: 'execute', status: 'pending' }
const options: PermissionOption[] = [
  { optionId: 'yes', kind: 'allow_once', name: 'Allow' },
  { optionId: 'no', kind: 'reject_once', name: 'Deny' },
]

/** It asks before it works, and ends as it was told. */
const asking = agent({ name: 'asking' })
  .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
  .onRequest('session/new', ({ params }) => ({ sessionId: `of ${params.cwd}` }))
  .onRequest('session/prompt', async ({ params, client }): Promise<PromptResponse> => {
    const { sessionId, prompt } = params
    const [first] = prompt
    const text = first?.type === 'image' ? `An image of ${first.mimeType}.` : 'No image.'
    const content = { type: 'text', text } as const
    await client.notify('session/update', {
      sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content },
    })
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      toolCall,
      options,
    })
    return { stopReason: outcome.outcome === 'cancelled' ? 'cancelled' : 'end_turn' }
  })

/** A turn with it; `onQuestion` is what is written when it asks. */
async function turn(onQuestion: (dialogue: ReturnType<typeof acpDialogue>, requestId: string) => string) {
  const events: AgentEvent[] = []
  const dialogue = acpDialogue({ model: null, mode: 'ask', keyVariable: 'KEY', workspace: '/workspace' })
  const toAgent = new TransformStream<Uint8Array, Uint8Array>()
  const fromAgent = new TransformStream<Uint8Array, Uint8Array>()
  const connection = asking.connect(ndJsonStream(fromAgent.writable, toAgent.readable))
  const writer = toAgent.writable.getWriter()
  const write = (text: string) => void writer.write(new TextEncoder().encode(text))
  write(
    dialogue.message({
      id: 'm1',
      text: 'Look',
      images: [{ mediaType: 'image/png', base64: 'iVBORw0KGgo=' }],
    }),
  )
  for await (const chunk of fromAgent.readable) {
    for (const event of dialogue.push(new TextDecoder().decode(chunk))) {
      events.push(event)
      if (event.type === 'write') write(event.text)
      if (event.type === 'question') write(onQuestion(dialogue, event.requestId))
    }
    if (events.at(-1)?.type === 'end') break
  }
  connection.close()
  return events
}

test('they understand each other: an image, a permission, a turn that ends', async () => {
  const answer = { choices: [permissionOptions.allow], text: '', values: [] }
  const events = await turn((dialogue, requestId) => dialogue.answer(requestId, [answer]))
  expect(events.filter(({ type }) => type === 'error')).toEqual([])
  expect(events.find(({ type }) => type === 'session')).toMatchObject({ sessionId: 'of /workspace' })
  expect(events.find(({ type }) => type === 'text')).toMatchObject({ text: 'An image of image/png.' })
  expect(events.at(-1)).toMatchObject({ type: 'end', ok: true, answers: ['m1'] })
})

test('they understand each other: a turn that is cancelled while it asks', async () => {
  const events = await turn((dialogue) => dialogue.interrupt() ?? '')
  expect(events.slice(-2)).toMatchObject([
    { type: 'error', code: 'aborted' },
    { type: 'end', ok: false },
  ])
})
