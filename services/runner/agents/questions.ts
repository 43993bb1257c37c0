/** Builds the questions of all agents to a person: limits their size, and formats the commands and changes in them. */
import { permissionOptions, planOptions } from '#domain/task/questionEvents.ts'
import type { AskedQuestion } from './port.ts'
import { shortened } from './shorten.ts'

/**
 * Each text of a question is shortened to this many characters. If the person chooses an option that was shortened, the agent gets the shortened
 * text. A rule of claude or codex that is longer than `rule` is left out.
 */
export const kept = { title: 500, label: 500, description: 1_000, body: 64_000, preview: 8_000, rule: 1_000 }
/** A question has at most this many options, fields, choices per field, and rules. */
export const most = { options: 20, fields: 50, choices: 50, rules: 50 }

export function bounded(asked: AskedQuestion): AskedQuestion {
  return {
    ...asked,
    title: shortened(asked.title, kept.title),
    body: shortened(asked.body, kept.body),
    options: asked.options.slice(0, most.options).map((option) => ({
      value: shortened(option.value, kept.label),
      label: shortened(option.label, kept.label),
      description: shortened(option.description, kept.description),
      preview: option.preview && shortened(option.preview, kept.preview),
    })),
    fields: asked.fields.slice(0, most.fields).map((field) => ({
      ...field,
      label: shortened(field.label, kept.label),
      description: shortened(field.description, kept.description),
      choices: field.choices.slice(0, most.choices).map((choice) => shortened(choice, kept.label)),
    })),
  }
}

export const option = (value: string, label: string) => ({ value, label, description: '', preview: null })

/** The values that most questions share. */
export const plain = { allowsText: true, multiple: false, body: '', options: [], fields: [], rules: [] }

export const planAsked = (plan: string): AskedQuestion => ({
  ...plain,
  kind: 'plan',
  title: 'The plan',
  body: plan,
  options: [
    option(planOptions.approve, 'Approve'),
    option(planOptions.approveAndAsk, 'Approve, and ask before each change'),
    option(planOptions.sendBack, 'Send back'),
  ],
})

/** A question whether the agent may do something. `rules` are what the option 'Always in this task' allows, in the agent's notation. */
export const permissionAsked = (
  words: Pick<AskedQuestion, 'title' | 'body'>,
  rules: string[],
): AskedQuestion => ({
  ...plain,
  ...words,
  kind: 'permission',
  options: [
    option(permissionOptions.allow, 'Allow'),
    ...(rules.length === 0 ? [] : [option(permissionOptions.allowInTask, 'Always in this task')]),
    option(permissionOptions.deny, 'Deny'),
  ],
  rules,
})

export const marked = (sign: string, text: string) =>
  text === '' ? [] : text.split('\n').map((line) => `${sign}${line}`)

/**
 * Puts a text into a Markdown code block whose fence is longer than any row of backticks in the text. Shortens a text of more than 32,000 characters.
 */
export function fenced(language: string, text: string): string {
  const shown = shortened(text, kept.body / 2)
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${shown}\n${fence}`
}
