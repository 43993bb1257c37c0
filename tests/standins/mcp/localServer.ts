/** The source of a local MCP server without dependencies, for a sandbox that has node and no packages: it speaks MCP on standard input and output. */
export const localServer = `
import { createInterface } from 'node:readline'
const tools = [{ name: 'whoami', description: 'Tells a variable', inputSchema: { type: 'object' } }]
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'local', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'variable of ' + String(process.env.LOCAL_KEY).length }] }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = answers[method]
  const told = answer ? { result: answer(params) } : { error: { code: -32601, message: 'No such method' } }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...told }))
})
`

/** The source of another, whose tool asks the person for a colour and tells the answer. */
export const askingServer = `
import { createInterface } from 'node:readline'
const requestedSchema = {
  type: 'object',
  properties: { colour: { type: 'string', title: 'Colour', enum: ['red', 'blue'] }, count: { type: 'integer' } },
  required: ['colour'],
}
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asking', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'paint', description: 'Paints', inputSchema: { type: 'object' } }] }),
}
let call
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (id === 'asked') return say({ id: call, result: { content: [{ type: 'text', text: JSON.stringify(result) }] } })
  if (id === undefined) return
  if (method !== 'tools/call') return say({ id, result: answers[method]?.(params) ?? {} })
  call = id
  say({ id: 'asked', method: 'elicitation/create', params: { message: 'Which colour?', requestedSchema } })
})
`
