// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { agentStates, taskOf } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'
import { recall, selectedModel } from '../../state/persisted.ts'

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
    await waitFor(() => expect(server.of(at)[0]?.body).toEqual({ codexModel: 'sonnet', agent: 'claude' }))
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
