/**
 * What of a request would have the model's side fetch or run something: servers of tools, tools of its own, addresses and files in place of
 * content. None of it goes by the list of hosts that a project allows, so none of it is passed on.
 */
import { z } from 'zod'

const Source = z.looseObject({ type: z.string(), content: z.unknown().optional() })
const Block = z.looseObject({
  type: z.unknown().optional(),
  source: z.unknown().optional(),
  content: z.unknown().optional(),
})
const Request = z.looseObject({
  mcp_servers: z.unknown().optional(),
  container: z.unknown().optional(),
  tools: z.array(z.looseObject({ type: z.string().nullish(), name: z.unknown() })).nullish(),
  system: z.unknown().optional(),
  messages: z.array(z.looseObject({ content: z.unknown() })).nullish(),
})

/** Tools that the agent runs itself, in its box; all others with a type run on the model's side. */
const ownTool = /^(?:custom|bash_\d+|text_editor_\d+|computer_\d+|memory_\d+)$/

export type Checked =
  /** What was looked at, and nothing else: of a name that stands twice, the model's side might take the other. */
  { readonly kind: 'fine'; readonly body: string } | { readonly kind: 'refused'; readonly sentence: string }

/** Looks at the body of a request of the Messages API. */
export function checkFetches(body: string): Checked {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return refused('The body of this request is not JSON.')
  }
  const request = Request.safeParse(parsed)
  if (!request.success)
    return refused(`${request.error.issues[0]?.path.join('.') || 'The body'} is not understood.`)
  const { mcp_servers: servers, container, tools, system, messages } = request.data
  if (isThere(servers)) return refused(outside('mcp_servers', 'connects to servers'))
  if (isThere(container)) return refused(outside('container', 'runs code'))
  const tool = tools?.find(({ type }) => typeof type === 'string' && !ownTool.test(type))
  if (tool) return refused(outside(`tools: ${tool.type}`, 'runs a tool'))
  const contents = [system, ...(messages ?? []).map(({ content }) => content)]
  const source = contents.map((content) => fetchedIn(content, 0)).find((found) => found !== undefined)
  if (source !== undefined) return refused(outside(`source: ${source}`, 'fetches content'))
  return { kind: 'fine', body: JSON.stringify(parsed) }
}

const refused = (sentence: string): Checked => ({ kind: 'refused', sentence })

const outside = (field: string, does: string): string =>
  `${field}: this ${does} from outside the box, past the hosts that the project allows, and is not passed on.`

const isThere = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

const deepest = 16

/** Sources that bring their content along. */
const ownSource = new Set(['base64', 'text', 'content'])

/** The kind of the first source that is fetched, in a block of whatever type. What is nested deeper than any content is counts as one. */
function fetchedIn(content: unknown, depth: number): string | undefined {
  if (depth > deepest) return 'nested'
  for (const each of Array.isArray(content) ? content : [content]) {
    const block = Block.safeParse(each)
    if (!block.success) continue
    const { type, source, content: inner } = block.data
    if (type === 'container_upload') return 'file'
    const found = fetchedBy(source, depth) ?? fetchedIn(inner, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Words that name a source, as those of a search result, fetch nothing. */
function fetchedBy(source: unknown, depth: number): string | undefined {
  if (source === undefined || source === null || typeof source === 'string') return undefined
  const known = Source.safeParse(source)
  if (!known.success) return 'unknown'
  const { type, content } = known.data
  return ownSource.has(type) ? fetchedIn(content, depth + 1) : type
}
