/** Every fault of a model in our words. The agents' words about them were recorded with the real programs. */
import { describe, expect, test } from 'vitest'
import { errorOf as claudeErrorOf } from './claude/fault.ts'
import { errorOf as codexErrorOf } from './codex/fault.ts'
import { errorOf as cursorErrorOf } from './cursor/fault.ts'
import { passingFault } from './modelFaults.ts'
import type { AgentError } from './port.ts'

const temporary =
  'This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (gateway.internal).'

/** The status, reason and result in the line that ends a turn of claude. */
const faultsOfClaude = {
  '401': [401, 'api_error', 'Invalid API key · Fix external API key'],
  '403': [403, 'api_error', 'Failed to authenticate. API Error: 403 This organization has been disabled.'],
  '429': [
    429,
    'api_error',
    'API Error: Request rejected (429) · Number of requests has exceeded your rate limit',
  ],
  '500': [500, 'api_error', `API Error: 500 Internal server error. ${temporary}`],
  '502': [502, 'api_error', `API Error: 502 The model's API cannot be reached. ${temporary}`],
  '529': [529, 'api_error', `API Error: 529 Overloaded. ${temporary}`],
  credit: [400, 'api_error', 'Credit balance is too low'],
  'spending limit': [400, 'api_error', 'API Error: 400 You have reached your specified API usage limits.'],
  'prompt too long': [
    400,
    'prompt_too_long',
    'Prompt is too long · the request is ~210000 tokens (limit 200000) but this conversation is only ~2633 tokens',
  ],
  '413': [413, 'image_error', 'Request too large (max 32MB). Remove older images.'],
  'bad model': [
    404,
    'api_error',
    "There's an issue with the selected model (claude-none-9). It may not exist or you may not have access to it. Run --model to pick a different model.",
  ],
  'a request that is refused': [400, 'api_error', 'API Error: 400 messages.3.content: some fault'],
  'outside of a turn': [403, 'api_error', 'Failed to authenticate. API Error: 403 No turn is running.'],
} as const satisfies Record<string, readonly [number, string, string]>

function claudeError(kind: keyof typeof faultsOfClaude): AgentError {
  const [status, reason, said] = faultsOfClaude[kind]
  const line = {
    type: 'result',
    subtype: 'success',
    is_error: true,
    session_id: 's',
    api_error_status: status,
    terminal_reason: reason,
    num_turns: 1,
    duration_ms: 1,
    result: said,
    modelUsage: {},
  } as const
  return claudeErrorOf(line)
}

describe('agents, model errors: what a person is told', () => {
  test.each([
    ['401', 'unauthorized', /refused the key of this server; whoever runs it should check ANTHROPIC_API_KEY/],
    [
      '403',
      'unauthorized',
      /key of this server.*ANTHROPIC_API_KEY.*\(This organization has been disabled\.\)/,
    ],
    [
      '429',
      'rate_limited',
      /no more requests with the key of this server.*\(429\).*Try again in a few minutes/,
    ],
    [
      '500',
      'api_error',
      /^The model's API failed \(500\).*Try again in a few minutes\. \(Internal server error\.\)$/,
    ],
    ['502', 'api_error', /failed \(502\).*\(The model's API cannot be reached\.\)$/],
    ['529', 'overloaded', /^The model is overloaded \(529\).*Try again in a few minutes\.$/],
    [
      'credit',
      'no_credit',
      /account of this server's key \(ANTHROPIC_API_KEY\) has no credit left.*add some/,
    ],
    ['spending limit', 'no_credit', /account of this server's key/],
    ['prompt too long', 'prompt_too_long', /too long for the model\. Send \/compact .* or create a new task/],
    ['413', 'request_too_large', /larger than the model takes.*Send \/compact/],
    [
      'bad model',
      'bad_model',
      /does not exist, or the key of this server may not use it.*model picker.*claude-none-9/,
    ],
    [
      'a request that is refused',
      'other',
      /^The model's API refused the request \(400\)\. \(messages\.3\.content: some fault\)$/,
    ],
    ['outside of a turn', 'other', /^No turn is running\.$/],
  ] as const)(
    'agents, model errors: %s is told as %s, by whose key it is and what to do',
    (kind, code, said) => {
      const error = claudeError(kind)
      expect(error.code).toBe(code)
      expect(error.message).toMatch(said)
      expect(error.message).not.toMatch(/--model|gateway|API Error|external API key/)
    },
  )

  test('agents, model errors: nothing of the agent’s own world is left in any sentence', () => {
    const unknown = 'Something odd. Check gateway.internal and your inference gateway. Run --model now.'
    for (const errorOf of [codexErrorOf, cursorErrorOf]) {
      expect(errorOf(unknown)).toMatchObject({ code: 'other', message: 'Something odd.' })
    }
  })

  test.each([
    [
      'unexpected status 401 Unauthorized: no, url: http://127.0.0.1:9/v1/responses',
      'unauthorized',
      'OPENAI_API_KEY',
    ],
    ['insufficient_quota: You exceeded your current quota', 'no_credit', 'OPENAI_API_KEY'],
    ['context_length_exceeded: too many tokens', 'prompt_too_long', 'Create a new task.'],
    ['unexpected status 413 Payload Too Large', 'request_too_large', 'Create a new task.'],
    ['unexpected status 503 Service Unavailable: high demand', 'overloaded', 'overloaded (503)'],
  ])('agents, model errors: %s of codex is told in the same way', (said, code, words) => {
    const error = codexErrorOf(said)
    expect(error.code).toBe(code)
    expect(error.message).toContain(words)
    expect(error.message).not.toMatch(/127\.0\.0\.1|\/compact/)
  })

  test('agents, model errors: overload and faults of the API pass, everything else does not', () => {
    const passing = Object.keys(faultsOfClaude).filter((kind) =>
      isKind(kind) ? passingFault(claudeError(kind)) !== undefined : false,
    )
    expect(passing.toSorted()).toEqual(['429', '500', '502', '529'])
  })
})

function isKind(kind: string): kind is keyof typeof faultsOfClaude {
  return kind in faultsOfClaude
}
