/** Reads of projects. */
import { getProject, getProjectGitStatus, listBranches, listProjects } from '#domain/api/projects.ts'
import { projectsView } from '#domain/views/projects.ts'
import { presentProject } from '#platform/commands/present.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import { pageAfter } from '#platform/http/paging.ts'
import type { Route } from '#platform/http/route.ts'
import { route, ownProject, type QueryServices } from '../services.ts'

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
  route(getProjectGitStatus, signedIn, fresh, ownProject, async ({ project }) => ({
    data: { currentBranch: project.defaultBranch },
  })),
]
