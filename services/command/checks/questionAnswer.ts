/** Checks whether an answer fits its question. */
import type { AnswerInput } from '#domain/api/questions.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Answer, FormField } from '#domain/task/questionEvents.ts'
import { formOptions, permissionOptions, planOptions } from '#domain/task/questionEvents.ts'
import type { QuestionDocument } from '#domain/views/questions.ts'

type Asked = Pick<QuestionDocument, 'kind' | 'options' | 'fields' | 'allowsText' | 'multiple'>

/** The answer's choices, text and values. Throws `invalid_input` when they do not fit the question. */
export function answerFor(question: Asked, input: AnswerInput): Answer {
  const answer = inFull(question, input)
  const { choices, text } = answer
  if (question.kind === 'form' && choices.includes(formOptions.decline))
    return { choices: [formOptions.decline], text: '', values: [] }
  if (question.kind === 'form')
    return { choices: [], text: '', values: valuesFor(question.fields, answer.values) }
  const values = new Set(question.options.map(({ value }) => value))
  if (choices.some((choice) => !values.has(choice))) throw invalid('Choose one of the options.')
  if (choices.length > 1 && !question.multiple) throw invalid('Choose one option.')
  const hasText = text.trim() !== ''
  if (hasText && !question.allowsText) throw invalid('Choose one of the options.')
  if (choices.length === 0 && (!hasText || question.kind !== 'question')) throw invalid('Choose an option.')
  if (question.kind === 'plan' && choices.includes(planOptions.sendBack) !== hasText)
    throw invalid(hasText ? 'Words go with Send back only.' : 'Say what to change in the plan.')
  if (question.kind === 'permission' && hasText && !choices.includes(permissionOptions.deny))
    throw invalid('Words go with Deny only.')
  return { choices: [...new Set(choices)], text, values: [] }
}

function inFull({ options }: Asked, input: AnswerInput): Answer {
  if (typeof input !== 'string') {
    const { choices = [], text = '', values = [] } = input
    return { choices, text, values }
  }
  const isChoice = options.some(({ value }) => value === input)
  return { choices: isChoice ? [input] : [], text: isChoice ? '' : input, values: [] }
}

function valuesFor(fields: readonly FormField[], values: Answer['values']): Answer['values'] {
  const unknown = values.find(({ name }) => fields.every((field) => field.name !== name))
  if (unknown) throw invalid(`There is no field ${unknown.name}.`)
  return fields.flatMap((field) => {
    const [given, again] = values.filter(({ name }) => name === field.name)
    const value = given?.value ?? ''
    if (again) throw invalid(`${field.label} has two values.`)
    if (value === '' && field.required) throw invalid(`Fill in ${field.label}.`)
    if (value !== '' && !fits(field, value)) throw invalid(`${field.label} has a value of another kind.`)
    return value === '' ? [] : [{ name: field.name, value }]
  })
}

function fits({ type, choices }: FormField, value: string): boolean {
  switch (type) {
    case 'text':
      return true
    case 'choice':
      return choices.includes(value)
    case 'boolean':
      return value === 'true' || value === 'false'
    case 'number':
      return value.trim() !== '' && Number.isFinite(Number(value))
    case 'integer':
      return value.trim() !== '' && Number.isSafeInteger(Number(value))
  }
}

const invalid = (sentence: string) => new Fault('invalid_input', sentence, 'answer')
