// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { agentStates, taskOf } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'
import { recall, selectedModel } from '../../state/persisted.ts'
import { selectedEffort } from './selectedEffort.ts'

const [claude, cursor] = agentStates
const able = { ...cursor, missing: null, models: [{ name: 'auto', label: 'Auto' }] }
const answers = { 'GET /agents': { agents: [claude, able] } }

const open = async (shown: string) => {
  fireEvent.click(await screen.findByRole('combobox', { name: `Model: ${shown}` }))
  return screen.findByRole('combobox', { name: 'Search or type a model...' })
}
const type = (field: HTMLElement, words: string) => fireEvent.change(field, { target: { value: words } })
const options = () => screen.getAllByRole('option').map((option) => option.getAttribute('aria-label'))

describe('the model of a new task', () => {
  test('is one that the agent tells of, and is remembered', async () => {
    openPage('/dashboard', { answers })
    await open('Default model')
    await waitFor(() => expect(options()).toEqual(['Default model', 'Opus', 'Sonnet']))
    fireEvent.click(screen.getByRole('option', { name: 'Sonnet' }))
    expect(await screen.findByRole('combobox', { name: 'Model: Sonnet' })).toBeTruthy()
    expect(recall(selectedModel)).toBe('sonnet')
  })

  test('is any other by its name, and nothing that cannot be one', async () => {
    openPage('/dashboard', { answers })
    const field = await open('Default model')
    type(field, '--settings')
    const refused = screen.getByRole('option', {
      name: '--settings',
      description: 'This is not a valid model name.',
    })
    fireEvent.click(refused)
    expect(recall(selectedModel)).toBe('o4-mini')
    type(field, 'claude-opus-4-5')
    expect(options()).toEqual(['Use claude-opus-4-5'])
    fireEvent.keyDown(field, { key: 'Enter' })
    expect(await screen.findByRole('combobox', { name: 'Model: claude-opus-4-5' })).toBeTruthy()
    expect(recall(selectedModel)).toBe('claude-opus-4-5')
  })

  test('is none that the agent does not have', async () => {
    openPage('/dashboard', { answers })
    const field = await open('Default model')
    type(field, 'gpt-5')
    const refused = screen.getByRole('option', {
      name: 'gpt-5',
      description: "Claude doesn't have this model.",
    })
    fireEvent.click(refused)
    fireEvent.keyDown(field, { key: 'Enter' })
    expect(recall(selectedModel)).toBe('o4-mini')
    expect(screen.getByRole('option', { name: 'gpt-5' })).toBeTruthy()
  })

  test('is the default of the other agent once that is chosen', async () => {
    openPage('/dashboard', { answers })
    await open('Default model')
    fireEvent.click(await screen.findByRole('option', { name: 'Opus' }))
    fireEvent.click(await screen.findByRole('combobox', { name: /^Agent:/ }))
    fireEvent.click(await screen.findByRole('option', { name: /cursor/i }))
    await open('Default model')
    expect(options()).toEqual(['Default model', 'Auto'])
    expect(recall(selectedModel)).toBe('o4-mini')
  })

  test('that makes no sense any more is forgotten', () => {
    expect(recall(selectedModel, { getItem: () => '--settings' })).toBe('o4-mini')
  })
})

const levels = ['low', 'high', 'xhigh']
const reporting = {
  ...claude,
  models: [
    {
      name: 'default',
      label: 'Default (recommended)',
      description: 'Opus 5.5 · $4/$20 per Mtok',
      effortLevels: levels,
      isDefault: true,
    },
    { name: 'opus', label: 'Opus', effortLevels: levels },
    { name: 'haiku', label: 'Haiku' },
  ],
}

describe('how hard the agent thinks', () => {
  const known = { 'GET /agents': { agents: [reporting, able] } }
  const chosen = async (level: string) => fireEvent.click(await screen.findByRole('radio', { name: level }))

  test('is offered where it reports levels for the model, and forgotten with a model without that level', async () => {
    openPage('/dashboard', { answers: known })
    await open('Default model')
    await waitFor(() => expect(options()).toEqual(['Default model', 'Opus', 'Haiku']))
    expect(screen.getByRole('option', { name: 'Default model', description: /per Mtok/ })).toBeTruthy()
    await chosen('xhigh')
    expect(recall(selectedEffort)).toBe('xhigh')
    expect(await screen.findByRole('combobox', { name: 'Model: Default model, xhigh' })).toBeTruthy()
    fireEvent.click(screen.getByRole('option', { name: 'Opus' }))
    expect(recall(selectedEffort)).toBe('xhigh')
    await open('Opus, xhigh')
    fireEvent.click(screen.getByRole('option', { name: 'Haiku' }))
    expect(recall(selectedEffort)).toBe('')
    await open('Haiku')
    expect(screen.queryByRole('radio')).toBeNull()
  })

  test('is changed with the model of a task', async () => {
    const task = taskOf(1, { codexModel: 'opus' })
    const at = `PUT /tasks/${task.id}`
    const server = openPage(`/tasks/${task.id}`, {
      answers: {
        ...known,
        ...openTaskAnswers(task),
        [at]: { task: { ...task, effort: 'high', version: 2 } },
      },
    })
    await open('Opus')
    await chosen('high')
    const body = { codexModel: 'opus', effort: 'high', agent: 'claude' }
    await waitFor(() => expect(server.of(at)[0]?.body).toEqual(body))
    expect(await screen.findByRole('combobox', { name: 'Model: Opus, high' })).toBeTruthy()
  })
})

describe('the model of a task', () => {
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0, model: 'claude-opus-4-5' }
  const task = taskOf(1, { codexModel: 'opus', usage })
  const at = `PUT /tasks/${task.id}`

  test('is shown, and changed for the next turn', async () => {
    const server = openPage(`/tasks/${task.id}`, {
      answers: {
        ...answers,
        ...openTaskAnswers(task),
        [at]: { task: { ...task, codexModel: 'sonnet', version: 2 } },
      },
    })
    await open('Opus')
    expect(screen.getByText('Last used: claude-opus-4-5. Changes apply from the next turn.')).toBeTruthy()
    fireEvent.click(screen.getByRole('option', { name: 'Sonnet' }))
    expect(await screen.findByRole('combobox', { name: 'Model: Sonnet' })).toBeTruthy()
    await waitFor(() =>
      expect(server.of(at)[0]?.body).toEqual({ codexModel: 'sonnet', effort: null, agent: 'claude' }),
    )
  })

  test('that was chosen for one agent is not that of the other', async () => {
    openPage(`/tasks/${task.id}`, { answers: { ...answers, ...openTaskAnswers(task) } })
    expect(await screen.findByRole('combobox', { name: 'Model: Opus' })).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: /^cursor$/i }))
    expect(await screen.findByRole('combobox', { name: 'Model: Default model' })).toBeTruthy()
  })

  test('that could not be changed stays, and the reason is told', async () => {
    openPage(`/tasks/${task.id}`, {
      answers: { ...answers, ...openTaskAnswers(task), [at]: () => refusal(503, 'A part is away.') },
    })
    await open('Opus')
    fireEvent.click(screen.getByRole('option', { name: 'Default model' }))
    expect(await screen.findByText('Failed to change the model')).toBeTruthy()
    expect(await screen.findByRole('combobox', { name: 'Model: Opus' })).toBeTruthy()
  })
})
