/** The routes that read projects and their settings. */
import { getProject, getProjectGitStatus, listBranches, listProjects } from '#domain/api/projects.schema.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { currentBranchOf, tasksView } from '#domain/views/tasks.ts'
import { newest, pageAfter } from '#platform/reads/documentPages.ts'
import { presentProject } from '#platform/reads/apiForms.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ifAny, route, ownProject, type QueryServices } from '../services.ts'
import { getProjectRepository, getProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { projectSettingsView, settingsOf } from '#domain/views/projectSettings.ts'

export const projectRoutes: readonly Route<QueryServices>[] = [
  route(listProjects, signedIn, fresh, async ({ user, query }, { documents }) => {
    const where = { owner: user.id }
    const { shown, next } = await pageAfter(query, (page) => documents.find(projectsView, { where, ...page }))
    return {
      projects: await Promise.all(shown.map((project) => presentProject(documents, project, user))),
      next,
    }
  }),
  route(getProject, signedIn, fresh, ownProject, async ({ project, user }, { documents }) => ({
    project: await presentProject(documents, project, user),
  })),
  route(listBranches, signedIn, fresh, ownProject, async ({ project, user }, { access, codeHost }) => {
    const token = await access.tokenOf(user.id)
    const names = await codeHost.branches(token, { owner: project.githubOwner, name: project.githubRepoName })
    return { branches: names.map((name) => ({ name })) }
  }),
  route(getProjectGitStatus, signedIn, fresh, ownProject, async ({ project }, { documents }) => {
    const latest = await newest(documents, tasksView, { projectId: project.id }, tasksLookedAt)
    const workingBranch = latest.map(currentBranchOf).find((branch) => branch !== null)
    return { data: { currentBranch: workingBranch ?? project.defaultBranch } }
  }),
]

/** How many of the newest tasks are searched for a workspace, whose branch is shown. Without a workspace, the default branch is shown. */
const tasksLookedAt = 20

export const projectSettingsRoutes: readonly Route<QueryServices>[] = [
  route(getProjectSettings, signedIn, fresh, ownProject, async ({ project }, { documents, rpc }) => {
    const [document, answer] = await Promise.all([
      documents.get(projectSettingsView, project.id),
      ifAny(rpc.call('hosts', askedOf(project), suggestionTimeoutMs)),
    ])
    return { settings: settingsOf(document), suggestions: [...(answer?.suggestions ?? [])] }
  }),
  route(getProjectRepository, signedIn, fresh, ownProject, async ({ project }, { rpc }) => {
    const answer = await ifAny(rpc.call('repository', askedOf(project), surveyTimeoutMs))
    return { repository: answer?.repository ?? null }
  }),
]

const askedOf = ({ id, owner }: ProjectDocument) => ({ projectId: id, ownerId: owner })

/** How long to wait for the suggested hosts, which are not worth a long wait. */
const suggestionTimeoutMs = 3_000
const surveyTimeoutMs = 10_000
