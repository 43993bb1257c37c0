/** The shapes of the API's answers, name by name. Clients rely on them: names may be added, but none may be removed. */
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { imageId, projectId } from '../../tests/domain/ids.ts'
import { agentNames } from '../agents.ts'
import { mediaTypes } from '../image.ts'
import { taskStatuses, titleOf } from './tasks.ts'
import { companySizes, roles } from '../user/events.ts'
import { calls } from './calls.schema.ts'
import { completeOnboarding, updateProfile, User } from './auth.schema.ts'
import { signInErrors } from './auth.ts'
import { ChatMessage, getChat, getCommands, getTerminal, sendMessage, TerminalOutput } from './chat.schema.ts'
import { messageTypes } from './chat.ts'
import { imageLimits, imageTexts } from './images.ts'
import { ShownImage, uploadImage } from './images.schema.ts'
import { limits } from './limits.ts'
import {
  Branch,
  createProject,
  createRepository,
  getGitHubUser,
  listBranches,
  listOrganizations,
  listProjects,
  listRepositories,
  Project,
  Repository,
} from './projects.schema.ts'
import { projectStatuses } from './projects.ts'
import { ChatMessageStatusChanged, CommandOutput, TaskStatusChanged } from './socket.schema.ts'
import { ChangedFile, createPullRequest, createTask, GitDiff, Task } from './tasks.schema.ts'

/** Those of the names that the schema of an object does not have. */
const missing = (schema: z.ZodObject, ...names: readonly string[]) =>
  names.filter((name) => !Object.hasOwn(schema.shape, name))

test('a client that knows of no pages gets the longest', () => {
  for (const { query } of [getChat, getCommands, getTerminal])
    expect(query.parse({}).limit).toBe(limits.pageSize)
  expect(listProjects.query.parse({}).limit).toBe(1_000)
})

describe('these are there:', () => {
  // Holds contract 3.1.
  test('the fields of a user', () =>
    expect(
      missing(
        User,
        'name',
        'fullName',
        'email',
        'avatar',
        'onboardingCompleted',
        'githubConnected',
        'githubId',
        'githubUsername',
      ),
    ).toEqual([]))

  // Holds contract 3.2.
  test('the fields of a project, with its stats', () => {
    expect(
      missing(
        Project,
        'id',
        'name',
        'description',
        'status',
        'isPrivate',
        'language',
        'githubUrl',
        'githubOwner',
      ),
    ).toEqual([])
    expect(missing(Project, 'githubRepoName', 'defaultBranch', 'lastSync', 'stats')).toEqual([])
    expect(missing(Project.shape.stats, 'totalTasks', 'completedTasks')).toEqual([])
  })

  test('the statuses of a project', () =>
    expect(projectStatuses).toEqual(['active', 'syncing', 'error', 'inactive']))

  // Holds contract 3.3.
  test('the name of a branch, and a list of them for each project', () => {
    expect(missing(Branch, 'name')).toEqual([])
    expect(listBranches.path).toBe('/projects/:projectId/branches')
    expect(listBranches.answer.parse({ branches: [{ name: 'main' }] })).toEqual({
      branches: [{ name: 'main' }],
    })
  })

  // Holds contract 3.4a, 3.4c.
  test('the fields of a task, of its project and of its images', () => {
    expect(
      missing(
        Task,
        'id',
        'title',
        'description',
        'status',
        'progress',
        'agent',
        'project',
        'projectId',
        'branch',
      ),
    ).toEqual([])
    expect(
      missing(
        Task,
        'codexModel',
        'images',
        'workingBranch',
        'prUrl',
        'prNumber',
        'owner',
        'createdAt',
        'updatedAt',
      ),
    ).toEqual([])
    expect(missing(Task.shape.project, 'id', 'name', 'githubRepoName')).toEqual([])
    expect(missing(Task.shape.images.element, 'id', 'url', 'name', 'size', 'type', 'uploadedAt')).toEqual([])
  })

  // Holds contract 3.4b, 4.1a.
  test('the statuses of a task, and its agents: the three of the contract, and two more', () => {
    expect(taskStatuses).toEqual(['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'])
    expect(agentNames).toEqual(['claude', 'cursor', 'codex', 'opencode', 'gemini'])
  })

  // Holds contract 3.5a, 3.5g.
  test('the fields of a chat message, of its images and of its attachments', () => {
    expect(
      missing(
        ChatMessage,
        'id',
        'task',
        'project',
        'owner',
        'message',
        'messageType',
        'isCommand',
        'commandText',
      ),
    ).toEqual([])
    expect(
      missing(
        ChatMessage,
        'images',
        'attachments',
        'isVisible',
        'isEdited',
        'commandStatus',
        'response',
        'agent',
      ),
    ).toEqual([])
    expect(missing(ChatMessage, 'createdAt', 'updatedAt')).toEqual([])
    expect(missing(ChatMessage.shape.images.element, 'id', 'url', 'name', 'size', 'type')).toEqual([])
    expect(missing(ChatMessage.shape.attachments.element, 'path', 'name', 'mimeType')).toEqual([])
    expect(messageTypes).toEqual(['user', 'command', 'system', 'error', 'response'])
  })

  // Holds contract 3.6.
  test('the members of what is sent to the chat', () => {
    const payload = {
      message: 'Run it',
      messageType: 'command',
      isCommand: true,
      commandText: 'make',
      images: [],
      agent: 'claude',
    }
    expect(sendMessage.body.parse(payload)).toEqual(payload)
  })

  // Holds contract 3.7.
  test('a list for the command log', () =>
    expect(getCommands.answer.parse({ logs: [], open: [], version: 0 })).toEqual({
      logs: [],
      open: [],
      version: 0,
    }))

  // Holds contract 3.8.
  test('the fields of terminal output', () =>
    expect(missing(TerminalOutput, 'timestamp', 'content', 'taskId')).toEqual([]))

  // Holds contract 3.9.
  test('the fields of a command’s output on the socket, and both its types', () => {
    expect(missing(CommandOutput, 'type', 'output')).toEqual([])
    expect(CommandOutput.shape.type.options).toEqual(['stdout', 'stderr'])
  })

  test('the fields of what is said on the socket of statuses', () => {
    expect(missing(TaskStatusChanged, 'taskId', 'status', 'progress')).toEqual([])
    expect(missing(ChatMessageStatusChanged, 'taskId', 'messageId', 'commandStatus', 'response')).toEqual([])
  })

  // Holds contract 3.10.
  test('the fields of a diff, and its statuses', () => {
    expect(
      missing(
        GitDiff,
        'status',
        'message',
        'changedFiles',
        'totalChanges',
        'currentBranch',
        'exists',
        'commitComparison',
      ),
    ).toEqual([])
    expect(missing(GitDiff.shape.commitComparison, 'ahead', 'behind')).toEqual([])
    expect(GitDiff.shape.status.options).toEqual(expect.arrayContaining(['pending_clone', 'not_initialized']))
  })

  // Holds contract 3.11a.
  test('the fields of a changed file, and its statuses', () => {
    expect(missing(ChangedFile, 'fileName', 'status', 'diff')).toEqual([])
    expect(ChangedFile.shape.status.options).toEqual(['added', 'untracked', 'modified', 'deleted', 'renamed'])
  })

  // Holds contract 3.12.
  test('the fields of an uploaded image', () => {
    expect(missing(uploadImage.answer, 'id', 'url', 'name', 'size', 'type')).toEqual([])
    expect(Object.keys(ShownImage.shape)).toEqual(['id', 'url', 'name', 'size', 'type'])
  })

  // Holds contract 3.13, 3.14b.
  test('the fields of a repository, and lists of repositories and organisations', () => {
    expect(missing(Repository, 'id', 'name', 'full_name', 'description', 'private', 'html_url')).toEqual([])
    expect(missing(listRepositories.answer, 'repositories')).toEqual([])
    expect(missing(listOrganizations.answer, 'organizations')).toEqual([])
  })

  test('the name of a new repository, whose other characters become hyphens', () =>
    expect(createRepository.body.parse({ name: ' my / engine_1.0 ' }).name).toBe('my-engine_1.0'))

  // Holds contract 3.14a.
  test('the fields of the account at the code host', () =>
    expect(missing(getGitHubUser.answer.shape.user, 'login', 'public_repos')).toEqual([]))

  // Holds contract 3.15.
  test('the answers of the onboarding', () => {
    const answers = { fullName: 'Ada', companySize: 'solo', role: 'cto' } as const
    expect(completeOnboarding.body.parse(answers)).toEqual(answers)
    expect(completeOnboarding.body.parse({ ...answers, email: 'ada@example.com' }).email).toBe(
      'ada@example.com',
    )
    // The form of the profile too may be sent without an address.
    for (const { body } of [completeOnboarding, updateProfile])
      expect(body.parse({ ...answers, email: '' }).email).toBe('')
    expect(companySizes).toEqual(['solo', '2-5', '6-20', '21-50', '51-200', '200+'])
    expect(roles).toEqual(['developer', 'designer', 'product_manager', 'team_lead', 'cto', 'other'])
  })

  // Holds contract 3.16.
  test('the pull request', () =>
    expect(missing(createPullRequest.answer.shape.pr, 'html_url', 'number')).toEqual([]))

  test('the errors of the sign-in', () =>
    expect(signInErrors).toEqual([
      'github',
      'server',
      'no_install_id',
      'session_lost',
      'user_not_found',
      'install_callback',
      'not_allowed',
    ]))
})

// Holds contract 6.1a.
test('a call asks of nobody more than to be signed in, and to have completed the onboarding', () => {
  expect(new Set(calls.map(({ call }) => call.open))).toEqual(new Set(['anybody', 'signed_in', 'onboarded']))
  const open = calls.filter(({ call }) => call.open === 'anybody').map(({ name }) => name)
  expect(open.toSorted()).toEqual([
    'beginSetup',
    'countPageView',
    'getRefusal',
    'getSetup',
    'login',
    'register',
  ])
})

/** What is said of a body that is refused, by field. */
function refusals(schema: z.ZodType, body: unknown): Readonly<Record<string, string>> {
  const { error } = schema.safeParse(body)
  // The first of a field is what is said.
  return Object.fromEntries(
    error?.issues.map(({ path, message }) => [path.join('.'), message]).toReversed() ?? [],
  )
}
const uploaded = (count: number) => Array.from({ length: count }, (_, index) => imageId(index + 1))

describe('input', () => {
  const task = { description: 'Words', projectId: projectId(1), branch: 'main' }

  // Holds contract 5.2.
  test('of a task needs a description, a project and a branch, in the words of the spec', () => {
    expect(refusals(createTask.body, { description: ' \n' })).toEqual({
      description: 'Please enter a task description',
      projectId: 'Please select a project',
      branch: 'Please select a branch',
    })
    expect(refusals(createTask.body, task)).toEqual({})
  })

  test('of a repository needs a name, and of a project a repository', () => {
    expect(refusals(createRepository.body, { name: ' ' })).toEqual({
      name: 'Please enter a name for your new repository.',
    })
    expect(refusals(createProject.body, {})).toEqual({
      repoUrl: 'Please choose a repository to create your project from.',
    })
  })

  // Holds contract 9.17a.
  test('of a list of repositories is all of them, the last updated first, a hundred at once and at most', () => {
    const page = { type: 'all', sort: 'updated', per_page: 100, page: 1 }
    expect(listRepositories.query.parse({})).toEqual(page)
    expect(listRepositories.query.parse({ type: 'all', sort: 'updated', per_page: '100' })).toEqual(page)
    expect(Object.keys(refusals(listRepositories.query, { per_page: '101' }))).toEqual(['per_page'])
  })

  // Holds contract 5.9.
  test('of a message needs text or an image', () => {
    for (const body of [{}, { message: ' ' }, { images: [] }, { isCommand: true, commandText: ' ' }])
      expect(refusals(sendMessage.body, body)).toEqual({ message: 'Enter a message.' })
    for (const body of [{ message: 'x' }, { images: uploaded(1) }, { isCommand: true, commandText: 'ls' }])
      expect(refusals(sendMessage.body, body)).toEqual({})
  })

  // Holds contract 9.11a, 9.11c.
  test('of a task has at most five images, of a message at most three', () => {
    expect(refusals(createTask.body, { ...task, images: uploaded(5) })).toEqual({})
    expect(refusals(createTask.body, { ...task, images: uploaded(6) })).toEqual({
      images: 'Attach at most 5 images.',
    })
    expect(refusals(sendMessage.body, { message: 'x', images: uploaded(3) })).toEqual({})
    expect(refusals(sendMessage.body, { message: 'x', images: uploaded(4) })).toEqual({
      images: 'Attach at most 3 images.',
    })
  })
})

// Holds contract 5.7b, 9.10.
test('an image is a JPEG, PNG, GIF or WebP of at most 10 MB, or is refused in the words of the spec', () => {
  expect([...mediaTypes].toSorted()).toEqual(['image/gif', 'image/jpeg', 'image/png', 'image/webp'])
  expect(imageLimits.bytes).toBe(10 * 1024 * 1024)
  expect(imageTexts.type).toBe('Only JPEG, PNG, GIF, and WebP images are allowed')
  expect(imageTexts.size).toBe('Image size must be less than 10MB')
})

// Holds contract 5.4, 9.9.
test('a title is the first line of the description, cut to 100 characters', () => {
  expect(titleOf('  Count the lines  \nand more')).toBe('Count the lines')
  expect(titleOf('🚀'.repeat(101))).toBe('🚀'.repeat(100))
})
