// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { openPage } from '../../../../../tests/client/page.tsx'
import { projectOf, repositoryOf } from '../../../../../tests/client/samples.ts'
import { json, refusal, type Asked } from '../../../../../tests/client/server.ts'

const made = projectOf(7, { name: 'engine', githubRepoName: 'engine' })
const project = { 'POST /projects': () => json(201, { project: made, id: made.id, position: '1' }) }
const submit = (name: string) => {
  const [button] = screen
    .getAllByRole('button', { name })
    .filter((one) => one.getAttribute('type') === 'submit')
  if (button === undefined) throw new Error(`There is no button ${name}.`)
  fireEvent.click(button)
}
/** Waits until the dashboard shows the new project as the chosen one. */
const chosenAtHome = async () => {
  await screen.findByRole('heading', { name: 'What are we coding next?' })
  await screen.findByRole('combobox', { name: 'Project: ada/engine' })
}

describe('importing a repository', () => {
  const repositories = {
    'GET /github/repos': { repositories: [repositoryOf('engine'), repositoryOf('other')] },
  }

  // Holds contract 9.17b.
  test('asks for the first hundred of all, the last updated first', async () => {
    const server = openPage('/projects/new', { answers: repositories })
    expect(await screen.findByText('2 repositories found')).toBeTruthy()
    expect(server.of('GET /github/repos')[0]?.query).toEqual({
      type: 'all',
      sort: 'updated',
      per_page: '100',
    })
  })

  test('asks on where a hundred came', async () => {
    const server = openPage('/projects/new', {
      answers: {
        'GET /github/repos': ({ query }: Asked) => ({
          repositories: Array.from({ length: query.page === '2' ? 3 : 100 }, (_, n) =>
            repositoryOf(`engine-${query.page ?? '1'}-${n}`),
          ),
        }),
      },
    })
    expect(await screen.findByText('103 repositories found')).toBeTruthy()
    expect(server.of('GET /github/repos').map(({ query }) => query.page)).toEqual([undefined, '2'])
  })

  // Holds contract 5.6.
  test('needs one that is selected', async () => {
    const server = openPage('/projects/new', { answers: { ...repositories, ...project } })
    expect(await screen.findByText('2 repositories found')).toBeTruthy()
    submit('Import from GitHub')
    expect(await screen.findByText('No Repository Selected')).toBeTruthy()
    expect(await screen.findByText('Please choose a repository to create your project from.')).toBeTruthy()
    expect(server.of('POST /projects')).toEqual([])
  })

  test('imports none that the search hides, and the chosen one once it is shown again', async () => {
    const server = openPage('/projects/new', { answers: { ...repositories, ...project } })
    fireEvent.click(await screen.findByRole('radio', { name: /ada\/engine/ }))
    const search = (text: string) =>
      fireEvent.change(screen.getByRole('searchbox'), { target: { value: text } })
    search('other')
    submit('Import from GitHub')
    expect(await screen.findByText('No Repository Selected')).toBeTruthy()
    expect(server.of('POST /projects')).toEqual([])
    search('')
    submit('Import from GitHub')
    await waitFor(() => expect(server.of('POST /projects')).toHaveLength(1))
  })

  // Holds contract 4.13b, 8.20c.
  test('makes the project, reads the list again, and chooses the new one', async () => {
    const server = openPage('/projects/new', { answers: { ...repositories, ...project } })
    fireEvent.click(await screen.findByRole('radio', { name: /ada\/engine/ }))
    server.answer({ 'GET /projects': { projects: [made], next: null } })
    submit('Import from GitHub')
    expect(await screen.findByText('Project "engine" created!')).toBeTruthy()
    expect(await screen.findByText('You can now assign tasks to your new AI engineer.')).toBeTruthy()
    await chosenAtHome()
    expect(server.of('POST /projects').map(({ body }) => body)).toEqual([
      { repoUrl: 'https://code.example/ada/engine' },
    ])
  })

  // Holds contract 8.14.
  test('that is refused says why, or that the project could not be made', async () => {
    const server = openPage('/projects/new', {
      answers: { ...repositories, 'POST /projects': () => refusal(409, 'It is a project already.') },
    })
    fireEvent.click(await screen.findByRole('radio', { name: /ada\/engine/ }))
    submit('Import from GitHub')
    expect(await screen.findByText('It is a project already.')).toBeTruthy()
    // github 3 (SSO): its link can be followed.
    const link = 'https://github.com/orgs/acme/sso?authorization_request=A1'
    server.answer({ 'POST /projects': () => refusal(422, `Open ${link}, then try again.`) })
    submit('Import from GitHub')
    expect((await screen.findByRole('link', { name: link })).getAttribute('href')).toBe(link)
    server.answer({ 'POST /projects': () => refusal(500) })
    submit('Import from GitHub')
    expect(await screen.findByText('Failed to create project')).toBeTruthy()
  })

  test.each([
    [false, 'm', 'Change what the App can access'],
    [true, 'i', 'Install the App'],
    [null, 'i', 'Install the App'],
  ])(
    'github 4.4: leads to where the App can be installed, and of a private one to what it has (%s)',
    async (isPublic, path, name) => {
      const app = { name: 'Deck', installUrl: 'https://code.example/i', manageUrl: 'https://code.example/m' }
      openPage('/projects/new', {
        answers: {
          ...repositories,
          'GET /github/access': {
            app: { ...app, isPublic },
            installations: [
              {
                id: '1',
                account: 'acme',
                isOrganization: true,
                repositories: 'all',
                selected: null,
                isCut: false,
                count: null,
                isSuspended: false,
                missing: [],
                url: 'https://code.example/c',
              },
            ],
            more: 0,
            requests: [],
          },
        },
      })
      const link = await screen.findByRole('link', { name })
      expect(link.getAttribute('href')).toBe(`https://code.example/${path}`)
      fireEvent.click(await screen.findByRole('radio', { name: /ada\/engine/ }))
      expect(await screen.findByText(/^The App is not installed for ada/)).toBeTruthy()
      expect(screen.queryAllByRole('link', { name: 'Install the App' })).toHaveLength(
        isPublic === false ? 0 : 2,
      )
    },
  )

  // Holds contract 8.12.
  test('says so where the repositories cannot be read', async () => {
    openPage('/projects/new', { answers: { 'GET /github/repos': () => refusal(502) } })
    expect(await screen.findByText('Failed to fetch repositories')).toBeTruthy()
    expect(
      await screen.findByText('Could not load your repositories from GitHub. Please try again later.'),
    ).toBeTruthy()
  })
})

describe('a new repository', () => {
  const open = async (answers: Parameters<typeof openPage>[1]) => {
    const server = openPage('/projects/new', answers)
    fireEvent.click(await screen.findByRole('button', { name: 'Create New Repository' }))
    await screen.findByRole('textbox', { name: 'Repository Name' })
    return server
  }
  const name = (text: string) =>
    fireEvent.change(screen.getByRole('textbox', { name: 'Repository Name' }), { target: { value: text } })

  // Holds contract 5.5.
  test('needs a name', async () => {
    const server = await open({})
    expect(await screen.findByText('It will belong to ada.')).toBeTruthy()
    name(' my engine')
    expect(screen.getByText('It will be ada/my-engine.')).toBeTruthy()
    name('  ')
    submit('Create & Import from GitHub')
    expect(await screen.findByText('Repository Name Required')).toBeTruthy()
    expect(await screen.findByText('Please enter a name for your new repository.')).toBeTruthy()
    expect(server.of('POST /github/repos')).toEqual([])
  })

  // Holds contract 4.13a, 8.20b; screens 2.42c.
  test('is made, then its project, which is then chosen on the way to the dashboard', async () => {
    const server = await open({
      answers: { ...project, 'POST /github/repos': () => json(201, { data: repositoryOf('engine') }) },
    })
    name('engine')
    fireEvent.change(screen.getByRole('textbox', { name: 'Description' }), {
      target: { value: 'It computes.' },
    })
    fireEvent.click(screen.getByRole('checkbox', { name: 'Make this repository private' }))
    server.answer({ 'GET /projects': { projects: [made], next: null } })
    submit('Create & Import from GitHub')
    expect(await screen.findByText('Repository "engine" created!')).toBeTruthy()
    expect(
      await screen.findByText('Your new repository and project are ready for AI engineering tasks.'),
    ).toBeTruthy()
    await chosenAtHome()
    const written = server.asked.filter(({ method }) => method === 'POST')
    expect(written.map(({ path, body }) => [path, body])).toEqual([
      ['/github/repos', { name: 'engine', description: 'It computes.', private: true }],
      [
        '/projects',
        { repoUrl: 'https://code.example/ada/engine', name: 'engine', description: 'It computes.' },
      ],
    ])
  })

  // Holds contract 8.13.
  test.each([
    [
      'whose name is taken',
      refusal(422, 'Refused.'),
      'Repository Already Exists',
      'A repository with this name already exists in your account.',
    ],
    [
      'that is refused for another reason',
      refusal(403, 'Not allowed.'),
      'Failed to create repository',
      'Not allowed.',
    ],
    [
      'that fails without a reason',
      refusal(500),
      'Failed to create repository',
      'An error occurred while creating the repository.',
    ],
  ])('%s is told', async (_, answer, title, message) => {
    const server = await open({ answers: { 'POST /github/repos': () => answer } })
    name('engine')
    submit('Create & Import from GitHub')
    expect(await screen.findByText(title)).toBeTruthy()
    expect(await screen.findByText(message)).toBeTruthy()
    await waitFor(() => expect(server.of('POST /projects')).toEqual([]))
  })

  test('whose project could not be made says so, and is the same one when it is tried again', async () => {
    const server = await open({
      answers: {
        'POST /github/repos': () => json(201, { data: repositoryOf('engine') }),
        'POST /projects': () => refusal(500),
      },
    })
    for (const [index, text] of ['engine', 'engine', 'motor'].entries()) {
      name(text)
      submit('Create & Import from GitHub')
      await waitFor(() => expect(server.of('POST /projects')).toHaveLength(index + 1))
      await screen.findByRole('button', { name: 'Create & Import from GitHub' })
    }
    expect((await screen.findAllByText('Failed to create project')).length).toBeGreaterThan(0)
    for (const call of ['POST /github/repos', 'POST /projects']) {
      const [first, again, other] = server.of(call).map(({ key }) => key)
      expect(again).toBe(first)
      expect(other).not.toBe(first)
    }
  })
})
