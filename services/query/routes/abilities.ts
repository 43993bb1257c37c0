/** The routes that read skills, commands and subagents, files to mention, and a person's own instructions. */
import { findProjectFiles, listProjectAbilities, listTaskAbilities } from '#domain/api/abilities.schema.ts'
import { getInstructions } from '#domain/api/instructions.schema.ts'
import { defaultAgent, type AgentName } from '#domain/agents.ts'
import { abilitiesFor } from '#domain/agents/abilities.ts'
import { instructionsView, noInstructions } from '#domain/views/instructions.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import type { RpcRequest } from '#platform/ports/rpc.ts'
import { ifAny, ownProject, ownTask, route, type QueryServices } from '../services.ts'

type Place = RpcRequest<'abilities'>

export const abilityRoutes: readonly Route<QueryServices>[] = [
  route(listTaskAbilities, signedIn, fresh, ownTask, async ({ task, query }, services) => {
    const { id: taskId, projectId, owner: ownerId, branch } = task
    return abilitiesAt(services, { projectId, ownerId, taskId, branch }, query.agent ?? task.agent)
  }),
  route(listProjectAbilities, signedIn, fresh, ownProject, async ({ project, query }, services) => {
    const { id: projectId, owner: ownerId } = project
    const place = { projectId, ownerId, taskId: null, branch: query.branch ?? null }
    return abilitiesAt(services, place, query.agent ?? defaultAgent)
  }),
  route(findProjectFiles, signedIn, fresh, ownProject, async ({ project, query }, services) => {
    const { id: projectId, owner: ownerId } = project
    const place = { projectId, ownerId, taskId: null, branch: query.branch ?? null }
    return filesAt(services, place, query.search)
  }),
  route(getInstructions, signedIn, fresh, async ({ user }, services) => ownOf(services, user.id)),
]

/** How long to wait for a runner, which may have to fetch the repository first. */
const withinMs = 8_000

async function abilitiesAt(services: QueryServices, place: Place, agent: AgentName) {
  const [found, { commands }] = await Promise.all([
    ifAny(services.rpc.call('abilities', place, withinMs)),
    ownOf(services, place.ownerId),
  ])
  const abilities = [...abilitiesFor(agent, found?.abilities ?? [], commands)]
  return { abilities, notes: [...(found?.notes ?? [])] }
}

async function filesAt({ rpc }: QueryServices, place: Place, search: string) {
  const found = await ifAny(rpc.call('files', { ...place, search }, withinMs))
  return { files: [...(found?.files ?? [])] }
}

async function ownOf({ documents }: QueryServices, userId: string) {
  const { instructions, commands } = (await documents.get(instructionsView, userId)) ?? noInstructions
  return { instructions, commands }
}
