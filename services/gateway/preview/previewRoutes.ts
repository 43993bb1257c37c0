/** The API calls of previews. The gateway answers them itself, since only its own process can connect to a sandbox. */
import { listPorts, openPort } from '#domain/api/preview.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { fresh, signedIn, type Person } from '#platform/http/guards.ts'
import { routeWith, type Route } from '#platform/http/route.ts'
import type { ListeningPort, RunningSandbox, SandboxPorts } from '#platform/ports/listeningPorts.ts'
import type { GatewayServices } from '../services.ts'
import type { PreviewNames } from './previewNames.ts'
import { sandboxEnded, type PreviewPasses } from './previewPasses.ts'
import { ticketPath } from './previews.ts'

const route = routeWith<GatewayServices>()

const apart =
  'This server has no previews, because its gateway and its runners are separate processes. They are there when one process runs all services.'

export function previewRoutes(
  names: PreviewNames,
  here: { readonly sandboxes: SandboxPorts; readonly passes: PreviewPasses } | null,
): readonly Route<GatewayServices>[] {
  const refusalFor = (host: string): string | null => (here === null ? apart : names.refusal(host))
  return [
    route(listPorts, signedIn, fresh, ownTask, async ({ params, client }) => {
      const unavailable = refusalFor(client.host)
      const running = here === null || unavailable !== null ? [] : here.sandboxes.of(params.taskId)
      const found = await portsOf(running)
      const ports = found.map(({ port, process }) => ({ port, process }))
      return { ports, running: running.length > 0, unavailable }
    }),
    route(openPort, signedIn, ownTask, async ({ params, user, sessionId, client }) => {
      const unavailable = refusalFor(client.host)
      if (here === null || unavailable !== null) throw new Fault('preview_unavailable', unavailable ?? apart)
      const { taskId, port } = params
      const running = here.sandboxes.of(taskId)
      if (running.length === 0) throw sandboxEnded()
      const found = (await portsOf(running)).find((one) => one.port === port)
      if (found === undefined)
        throw new Fault('not_found', `Nothing listens on port ${port} in the sandbox of this task.`)
      const place = { taskId, port }
      const pass = { userId: user.id, sessionId, ...place, sandboxId: found.sandboxId }
      const ticket = await here.passes.ticketFor(pass)
      return { url: `${names.originOf(place, client.host)}${ticketPath}?ticket=${ticket}` }
    }),
  ]
}

/** Requires that the task in the path is the person's own. */
async function ownTask(
  { user, params }: Person & { readonly params: { readonly taskId: string } },
  { documents }: Pick<GatewayServices, 'documents'>,
): Promise<object> {
  if ((await documents.get(tasksView, params.taskId))?.owner !== user.id)
    throw new Fault('not_found', 'There is no such task.')
  return {}
}

/** The ports on which something listens in the sandboxes. If two sandboxes have the same port, the first sandbox in `running` counts. */
async function portsOf(
  running: readonly RunningSandbox[],
): Promise<readonly (ListeningPort & { readonly sandboxId: string })[]> {
  const found = new Map<number, ListeningPort & { readonly sandboxId: string }>()
  for (const sandbox of running)
    for (const one of await sandbox.ports())
      if (!found.has(one.port)) found.set(one.port, { ...one, sandboxId: sandbox.id })
  return [...found.values()].sort((one, other) => one.port - other.port)
}
