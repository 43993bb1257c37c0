// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'
import { projectOf } from '../../../../tests/client/samples.ts'
import { refusal } from '../../../../tests/client/server.ts'

const [project, other] = [projectOf(1), projectOf(2)]
const at = `/projects/${project.id}`

async function opened(item: string) {
  const server = openPage(at, {
    answers: {
      [`GET ${at}`]: { project },
      'GET /projects': { projects: [project, other], next: null },
      [`DELETE ${at}`]: { success: true },
    },
  })
  fireEvent.click(await screen.findByRole('button', { name: 'Project actions' }))
  fireEvent.click(await screen.findByRole('menuitem', { name: item }))
  return { server, dialog: within(await screen.findByRole('dialog', { name: item })) }
}

describe('a project', () => {
  test('is given another name and another description', async () => {
    const { server, dialog } = await opened('Edit Project')
    const name = dialog.getByRole('textbox', { name: 'Name' })
    expect(name).toHaveProperty('value', 'engine-1')
    fireEvent.change(name, { target: { value: '  ' } })
    expect(dialog.getByRole('button', { name: 'Save Changes' })).toHaveProperty('disabled', true)
    fireEvent.change(name, { target: { value: ' The engine ' } })
    fireEvent.change(dialog.getByRole('textbox', { name: 'Description' }), { target: { value: 'It runs.' } })

    server.answer({ [`PUT ${at}`]: () => refusal(500) })
    fireEvent.click(dialog.getByRole('button', { name: 'Save Changes' }))
    expect(await dialog.findByText('Failed to update project')).toBeTruthy()

    const changed = { ...project, name: 'The engine', description: 'It runs.' }
    server.answer({ [`PUT ${at}`]: { project: changed }, [`GET ${at}`]: { project: changed } })
    fireEvent.click(dialog.getByRole('button', { name: 'Save Changes' }))
    expect(await screen.findByRole('heading', { level: 1, name: 'The engine' })).toBeTruthy()
    expect(await screen.findByText('Project updated')).toBeTruthy()
    expect(server.of(`PUT ${at}`).at(-1)?.body).toEqual({ name: 'The engine', description: 'It runs.' })
  })

  test('that is deleted is out of the list at once, and comes back when the server refuses', async () => {
    const { server, dialog } = await opened('Delete Project')
    fireEvent.click(dialog.getByRole('button', { name: 'Delete Project' }))
    expect(await screen.findByRole('link', { name: 'View Details: engine-2' })).toBeTruthy()
    expect(screen.queryByRole('link', { name: 'View Details: engine-1' })).toBeNull()
    expect(await screen.findByText('Project deleted')).toBeTruthy()
    expect(server.of(`DELETE ${at}`)).toEqual([])

    server.answer({ [`DELETE ${at}`]: () => refusal(500) })
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }))
    expect(await screen.findByText('Failed to delete project')).toBeTruthy()
    expect(await screen.findByRole('link', { name: 'View Details: engine-1' })).toBeTruthy()
    await waitFor(() => expect(server.of(`DELETE ${at}`)).toHaveLength(1))
  })
})
