/** Projects, and the code host's data about repositories. */
import { z } from 'zod'
import { tokenKinds } from '../codeHostToken.ts'
import { Position } from '../kernel/event.schema.ts'
import { ProjectId } from '../kernel/ids.schema.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { Cursor, Moment, queryNumber, required, success, Text } from './fields.schema.ts'
import { limits } from './limits.ts'
import { projectRoutes, projectStatuses } from './projects.ts'

export const Project = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(projectStatuses),
  /** Why the last sync failed; `null` when it succeeded. */
  statusReason: z.string().nullable(),
  isPrivate: z.boolean(),
  language: z.string().nullable(),
  githubUrl: z.string(),
  githubOwner: z.string(),
  githubRepoName: z.string(),
  defaultBranch: z.string(),
  lastSync: Moment.nullable(),
  createdAt: Moment,
  /** Whether the repository belongs to an account other than the person's own, usually an organisation. */
  isOrganization: z.boolean(),
  stats: z.object({
    totalTasks: z.number(),
    completedTasks: z.number(),
    runningTasks: z.number(),
    /** Titles of running tasks, newest first; at most 10. */
    runningTitles: z.array(z.string()),
  }),
  position: Position,
})
export type Project = z.infer<typeof Project>

export const Branch = z.object({ name: z.string() })

const params = z.object({ projectId: ProjectId })
const projectAnswer = { project: Project }

export const listProjects = defineRead(projectRoutes.listProjects, {
  summary: "The person's projects, newest first.",
  query: { limit: queryNumber(1_000).default(1_000), after: Cursor.optional() },
  answer: { projects: z.array(Project), next: z.string().nullable() },
})

export const getProject = defineRead(projectRoutes.getProject, {
  summary: 'One project.',
  params,
  answer: projectAnswer,
  faults: ['not_found'],
})

export const createProject = defineWrite(projectRoutes.createProject, {
  summary: 'Registers a repository as a project.',
  body: z.object({
    repoUrl: required('Please choose a repository to create your project from.', 2_000),
    name: Text.trim().max(limits.nameLength).optional(),
    description: Text.max(2_000).nullable().optional(),
  }),
  status: 201,
  answer: { ...projectAnswer, id: z.string() },
  faults: ['already_exists', 'github_not_connected', 'code_host_refused', 'code_host_unavailable'],
})

export const updateProject = defineWrite(projectRoutes.updateProject, {
  summary: 'Changes the name or the description.',
  params,
  body: z.object({
    name: required('A project needs a name.', limits.nameLength).optional(),
    description: Text.max(2_000).optional(),
  }),
  answer: projectAnswer,
  faults: ['not_found'],
})

export const deleteProject = defineWrite(projectRoutes.deleteProject, {
  summary: 'Deletes the project. The repository is kept.',
  params,
  answer: success,
  faults: ['not_found'],
})

export const syncProject = defineWrite(projectRoutes.syncProject, {
  summary: 'Reads the repository from the code host again.',
  params,
  answer: projectAnswer,
  faults: ['not_found', 'github_not_connected', 'code_host_refused', 'code_host_unavailable'],
})

export const listBranches = defineRead(projectRoutes.listBranches, {
  summary: 'The branches of the repository, the default branch first.',
  params,
  answer: { branches: z.array(Branch) },
  faults: ['not_found', 'github_not_connected', 'code_host_refused', 'code_host_unavailable'],
})

export const getProjectGitStatus = defineRead(projectRoutes.getProjectGitStatus, {
  summary:
    "The current branch of the project: the one its newest task's workspace is on, or else the default branch.",
  params,
  answer: { data: z.object({ currentBranch: z.string() }) },
  faults: ['not_found'],
})

export const Repository = z.object({
  id: z.string(),
  name: z.string(),
  full_name: z.string(),
  description: z.string().nullable(),
  private: z.boolean(),
  html_url: z.string(),
  /** Whether the person may push; missing or `null` when the code host does not say. */
  may_push: z.boolean().nullable().optional(),
})
export type Repository = z.infer<typeof Repository>

export const getGitHubUser = defineRead(projectRoutes.getGitHubUser, {
  summary: 'The connected account on the code host.',
  answer: {
    user: z.object({ login: z.string(), public_repos: z.number() }),
    /** The pages for installing and managing the App; missing in single-user mode, which has no App. */
    appUrls: z.object({ install: z.string(), manage: z.string() }).optional(),
    /** In single-user mode: the kind of token that this server uses instead of an App. */
    token: z.object({ kind: z.enum(tokenKinds) }).optional(),
  },
  faults: ['github_not_connected', 'code_host_refused', 'code_host_unavailable'],
})

export const listRepositories = defineRead(projectRoutes.listRepositories, {
  summary: 'A page of the repositories the person can reach, most recently updated first.',
  query: {
    type: z.enum(['all', 'owner', 'public', 'private', 'member']).default('all'),
    sort: z.enum(['updated', 'created', 'full_name']).default('updated'),
    per_page: queryNumber(limits.repositoriesPage).default(limits.repositoriesPage),
    page: queryNumber(1_000).default(1),
  },
  answer: { repositories: z.array(Repository) },
  faults: ['github_not_connected', 'code_host_refused', 'code_host_unavailable'],
})

export const listOrganizations = defineRead(projectRoutes.listOrganizations, {
  summary: 'Organisations the person belongs to.',
  answer: { organizations: z.array(z.object({ login: z.string(), avatar_url: z.string() })) },
  faults: ['github_not_connected', 'code_host_refused', 'code_host_unavailable'],
})

export const createRepository = defineWrite(projectRoutes.createRepository, {
  summary: "Makes a repository in the person's account.",
  body: z.object({
    /** Characters that the code host does not allow become hyphens, as they do there. */
    name: required('Please enter a name for your new repository.', 100).transform((name) =>
      name.replaceAll(/[^\w.-]+/g, '-'),
    ),
    description: Text.max(350).nullable().optional(),
    private: z.boolean().optional(),
  }),
  status: 201,
  answer: { data: Repository },
  faults: ['forbidden', 'github_not_connected', 'code_host_refused', 'code_host_unavailable'],
})
