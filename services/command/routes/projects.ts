/** The routes that create, change, sync and delete projects, and the route that creates a repository at the code host. */
import { viewerOf } from '#domain/appPermissions.ts'
import { randomUUID } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import {
  createProject,
  createRepository,
  deleteProject,
  syncProject,
  updateProject,
  type Repository,
} from '#domain/api/projects.schema.ts'
import type { BodyOf } from '#domain/api/call.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Position } from '#domain/kernel/event.ts'
import { projectStream, requestStream } from '#domain/kernel/streams.ts'
import type { ProjectCommand } from '#domain/project/project.ts'
import {
  RepositoryMade,
  type MadeRepository,
  request as repositoryRequest,
} from '#domain/idempotentRequest.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { UserDocument } from '#domain/views/users.ts'
import { oldest } from '#platform/reads/documentPages.ts'
import { presentProject } from '#platform/reads/apiForms.ts'
import { faultOfHost } from '#platform/http/faultResponses.ts'
import { signedIn, type Person } from '#platform/http/guards.ts'
import type { CallRequest, Route } from '#platform/http/route.ts'
import {
  CodeHostFault,
  type CodeHost,
  type HostRepository,
  type RepositoryName,
} from '#platform/ports/codeHost.ts'
import { factsOf, readProject } from '#platform/reads/repositoryReading.ts'
import {
  executeOnProject,
  ownProject,
  requireNotDeleted,
  route,
  written,
  type CommandServices,
} from '../services.ts'

export const projectRoutes: readonly Route<CommandServices>[] = [
  route(createProject, signedIn, async ({ body, ...request }, services) => {
    const { user, commandId } = request
    const projectId = uuidv5('project', commandId)
    const named = services.codeHost.parseRepositoryUrl(body.repoUrl)
    if (!named)
      throw new Fault('invalid_input', 'This is not the address of a repository on GitHub.', 'repoUrl')
    const repository = await reach(named, user.id, services).catch((fault: unknown) => {
      throw asFaultOfRepoUrl(fault)
    })
    // Requests of one person run one after the other, so that a second request for the same repository sees the first project.
    const answer = await services.serialized(user.id, async () => {
      await refuseSecond(repository, projectId, user, services)
      return executeAndShow(projectId, request, services, {
        type: 'CreateProject',
        projectId,
        ownerId: user.id,
        githubRepoId: repository.id,
        isPrivate: repository.isPrivate,
        name: body.name || repository.name,
        description: body.description ?? repository.description ?? '',
        repository: factsOf(repository),
      })
    })
    return { ...answer, id: projectId }
  }),
  route(updateProject, signedIn, ownProject, async ({ params, body, ...request }, services) =>
    executeAndShow(params.projectId, request, services, {
      type: 'UpdateProject',
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.description === undefined ? {} : { description: body.description }),
    }),
  ),
  route(deleteProject, signedIn, ownProject, async ({ params, ...request }, services) => {
    const { position } = await executeOnProject(services, params.projectId, request, {
      type: 'DeleteProject',
    })
    return { success: true as const, ...(await written(position, services)) }
  }),
  route(syncProject, signedIn, ownProject, async ({ params, ...request }, services) => {
    const project = await services.documents.get(projectsView, params.projectId)
    if (!project) throw new Fault('not_found', 'There is no such project.')
    // A repeated request does not record the start of a sync. If the end of the first sync is already recorded, no event would end a second sync.
    if (!request.again)
      await executeOnProject(
        services,
        params.projectId,
        { ...request, commandId: randomUUID() },
        { type: 'StartSync' },
      )
    const read = await readProject(project, () => services.access.tokenOf(request.user.id), {
      codeHost: services.codeHost,
    })
    if (read === 'unchanged') throw new Error('The code host compared with what nobody gave it.')
    const { before, last, refusal } = read
    for (const command of before)
      await executeOnProject(services, params.projectId, { ...request, commandId: randomUUID() }, command)
    // After a refusal, the command gets another id, so that a repeated request reads the repository again.
    const commandId = refusal ? randomUUID() : request.commandId
    const answer = await executeAndShow(params.projectId, { ...request, commandId }, services, last)
    if (refusal) throw refusal
    return answer
  }),
  route(createRepository, signedIn, async ({ body, ...request }, services) => {
    const { repository, position } = await makeRepository(body, request, services).catch((fault: unknown) => {
      throw asFaultOfCreation(fault)
    })
    return { data: repository, ...(await written(position, services)) }
  }),
]

/** How far the code host's clock may be behind this server's, in milliseconds. */
const clocksApartMs = 60_000

/**
 * Creates a repository, only once for repeated requests. A repeated request first looks for the repository at the code host, because a crash may have
 * prevented the record of its creation.
 */
async function makeRepository(
  body: BodyOf<typeof createRepository>,
  {
    user,
    actor,
    commandId,
    requestId,
  }: Person & Pick<CallRequest<typeof createRepository>, 'commandId' | 'requestId'>,
  services: CommandServices,
): Promise<{ repository: Repository; position: Position | null }> {
  const { access, codeHost, commands, idempotency } = services
  const stream = requestStream(commandId)
  const before = await commands.load(repositoryRequest, stream)
  if (before.state.kind === 'accepted' && before.state.made !== null)
    return { repository: repositoryOf(before.state.made), position: before.position }
  // The request is recorded first, because the code host does not say which request created a repository.
  if (before.state.kind === 'none') {
    const accepting = { type: 'AcceptRequest', userId: user.id, digest: idempotency.digestOf(body) } as const
    const cause = { actor, commandId: uuidv5('accept', commandId), correlationId: requestId }
    await commands.execute(repositoryRequest, stream, accepting, cause)
  }
  const token = await access.tokenOf(user.id)
  const mine =
    before.state.kind === 'accepted'
      ? await madeSince(before.state.at, body.name, token, { user, codeHost })
      : undefined
  const made =
    mine ??
    (await codeHost.createRepository(token, {
      name: body.name,
      description: body.description ?? '',
      isPrivate: body.private ?? false,
    }))
  const { id, name, fullName, description, isPrivate, htmlUrl } = made
  const recorded = RepositoryMade.of(
    { isPrivate },
    { githubRepoId: id, name, fullName, description, htmlUrl },
  )
  const executed = await commands.execute(
    repositoryRequest,
    stream,
    { type: 'RecordRepository', repository: recorded },
    { actor, commandId },
    async () => {
      await requireNotDeleted(services, user.id)
      return () => undefined
    },
  )
  return { repository: repositoryOf(recorded), position: executed.position }
}

/** Turns a refusal to create a repository into a 403, unless it says that the name is taken: to clients, a 422 means only that. */
export function asFaultOfCreation(thrown: unknown): unknown {
  const isOther =
    thrown instanceof CodeHostFault &&
    faultOfHost(thrown).code === 'code_host_refused' &&
    !/already exists/i.test(thrown.message)
  return isOther ? new Fault('forbidden', thrown.message) : thrown
}

/** The person's repository with this name, if it was created after the time `at` of the request. */
async function madeSince(
  at: string,
  name: string,
  token: string,
  { user, codeHost }: { user: UserDocument; codeHost: CodeHost },
): Promise<HostRepository | undefined> {
  try {
    const found = await codeHost.repository(token, { owner: user.githubUsername ?? '', name })
    const earliest = Date.parse(at) - clocksApartMs
    return found.createdAt !== null && Date.parse(found.createdAt) >= earliest ? found : undefined
  } catch (fault) {
    if (fault instanceof CodeHostFault && fault.kind === 'not_found') return undefined
    throw fault
  }
}

function repositoryOf({
  data,
  content,
}: Pick<MadeRepository, 'data'> & { content: MadeRepository['content'] | null }) {
  return {
    id: content?.githubRepoId ?? '',
    name: content?.name ?? '',
    full_name: content?.fullName ?? '',
    description: content?.description ?? null,
    private: data.isPrivate,
    html_url: content?.htmlUrl ?? '',
  }
}

async function reach(
  named: RepositoryName,
  userId: string,
  services: CommandServices,
): Promise<HostRepository> {
  const token = await services.access.tokenOf(userId)
  try {
    return await services.codeHost.repository(token, named)
  } catch (fault) {
    if (!(fault instanceof CodeHostFault && fault.kind === 'not_found')) throw fault
    const sentence = `GitHub has no repository ${named.owner}/${named.name}, or ${viewerOf(services.codeHost)} cannot see it.`
    throw new CodeHostFault('not_found', sentence)
  }
}

/** Turns a fault about the repository into a fault that names the field `repoUrl`. */
function asFaultOfRepoUrl(thrown: unknown): unknown {
  const isOfRepository =
    thrown instanceof CodeHostFault && (thrown.kind === 'not_found' || thrown.kind === 'forbidden')
  return isOfRepository ? faultOfHost(thrown, 'repoUrl') : thrown
}

/** Refuses a second project of the same person for the same repository. */
async function refuseSecond(
  repository: HostRepository,
  projectId: string,
  user: UserDocument,
  { documents }: CommandServices,
): Promise<void> {
  const [existing] = await oldest(documents, projectsView, { owner: user.id, githubRepoId: repository.id }, 1)
  if (existing && existing.id !== projectId) {
    throw new Fault('already_exists', `${repository.fullName} is a project already.`, 'repoUrl', {
      current: { project: await presentProject(documents, existing, user) },
    })
  }
}

async function executeAndShow(
  projectId: string,
  request: Person & { readonly commandId: string },
  services: CommandServices,
  command: ProjectCommand,
) {
  const executed = await executeOnProject(services, projectId, request, command)
  const placed = await written(executed.position, services)
  const stream = projectStream(projectId)
  const document = await services.documents.asOf(projectsView, stream, projectId, executed.head)
  if (!document) throw new Fault('not_found', 'There is no such project.')
  return { project: await presentProject(services.documents, document, request.user), ...placed }
}
