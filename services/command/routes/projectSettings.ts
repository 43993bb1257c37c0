/** The routes that change a project's settings and secrets. A secret is stored in the vault, and never in an event. */
import { v5 as uuidv5 } from 'uuid'
import {
  removeProjectSecret,
  setProjectSecret,
  updateProjectSettings,
  type ShownSettings,
} from '#domain/api/projectSettings.schema.ts'
import { endingOf } from '#domain/agentKeys.ts'
import type { BodyOf } from '#domain/api/call.schema.ts'
import { isRefusal } from '#domain/kernel/decider.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { bytesOf, settingsLimits } from '#domain/project/settings.ts'
import { projectDecider, type ProjectCommand, type ProjectState } from '#domain/project/project.ts'
import { projectSettingsView, settingsOf } from '#domain/views/projectSettings.ts'
import type { Executed } from '#platform/commands/execute.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { storeKey } from '../storeKey.ts'
import { executeOnProject, ownProject, route, written, type CommandServices } from '../services.ts'

export const projectSettingsRoutes: readonly Route<CommandServices>[] = [
  route(updateProjectSettings, signedIn, ownProject, async ({ params, body, ...request }, services) => {
    const { setupCommand, variables, egress, modelFetches } = body
    const settings: ProjectCommand = {
      type: 'ChangeSettings',
      ...(setupCommand === undefined ? {} : { setupCommand }),
      ...(variables === undefined ? {} : { variables }),
      ...(egress === undefined ? {} : { egress: [...new Set(egress)] }),
      ...(modelFetches === undefined ? {} : { modelFetches }),
    }
    // What may be refused comes first, as no other setting may change then: these settings, and the model key by its provider.
    if (await isNew(services, params.projectId, request.commandId))
      await refuseEarly(services, params.projectId, settings)
    if (body.modelKey) await setModelKey(services, params.projectId, request, body.modelKey)
    // Each command has an id that is derived from the request's command id, so that a repeated request changes nothing.
    for (const [name, command] of rulesIn(body))
      await executeOnProject(
        services,
        params.projectId,
        { ...request, commandId: uuidv5(name, request.commandId) },
        command,
      )
    const executed = await executeOnProject(services, params.projectId, request, settings)
    return shown(services, params.projectId, executed)
  }),
  route(setProjectSecret, signedIn, ownProject, async ({ params, body, ...request }, services) => {
    const { projectId, name } = params
    const command = { type: 'SetSecret', name, forAgent: body.forAgent ?? false } as const
    if (await isNew(services, projectId, request.commandId)) {
      await refuseEarly(services, projectId, command)
      await refuseTooMuch(services, projectId, { name, value: body.value })
      // The value is stored before the event with the name is recorded. A listed name must have a value, but a value without a name is never used.
      if (!(await services.projectSecrets.set(projectId, name, body.value))) throw noProject()
    }
    return shown(services, projectId, await executeOnProject(services, projectId, request, command))
  }),
  route(removeProjectSecret, signedIn, ownProject, async ({ params, ...request }, services) => {
    const { projectId, name } = params
    // A repeated request must not remove a value that another request has set since then.
    if (await isNew(services, projectId, request.commandId))
      await services.projectSecrets.remove(projectId, name)
    const { position } = await executeOnProject(services, projectId, request, { type: 'RemoveSecret', name })
    return { success: true as const, ...(await written(position, services)) }
  }),
]

async function setModelKey(
  services: CommandServices,
  projectId: string,
  request: Parameters<typeof executeOnProject>[2],
  { provider, value, baseUrl }: NonNullable<BodyOf<typeof updateProjectSettings>['modelKey']>,
): Promise<void> {
  const commandId = uuidv5('model key', request.commandId)
  if (!(await isNew(services, projectId, commandId))) return
  const execute = (command: ProjectCommand) =>
    executeOnProject(services, projectId, { ...request, commandId }, command)
  const holder = { kind: 'project', id: projectId } as const
  if (value === null) {
    await services.modelKeys.remove(holder, provider)
    await execute({ type: 'RemoveModelKey', provider })
    return
  }
  const key = { kind: 'api_key', value, baseUrl } as const
  await storeKey(
    services,
    { holder, provider, key },
    {
      record: (checked) =>
        execute({ type: 'SetModelKey', provider, checked, baseUrl, ending: endingOf(value) }),
      isRecorded: async () => !(await isNew(services, projectId, commandId)),
    },
  )
}

/** The commands for the settings in the body that `ChangeSettings` does not cover. Each command has a name, from which its command id is derived. */
function rulesIn(
  body: BodyOf<typeof updateProjectSettings>,
): readonly (readonly [name: string, command: ProjectCommand])[] {
  const { allowedFilters: filters, draftPullRequests: on, submodules: repositories, feedback, issues } = body
  const { allowedHooks: hooks, services } = body
  const given = <Rule extends object>(rule: Rule) =>
    Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined))
  return [
    ...(feedback ? [['feedback', { type: 'ChangeFeedbackRule', ...given(feedback) }] as const] : []),
    ...(issues ? [['issues', { type: 'ChangeIssueRule', ...given(issues) }] as const] : []),
    ...(filters ? [['filters', { type: 'AllowFilters', filters }] as const] : []),
    ...(on === undefined ? [] : [['drafts', { type: 'ChangeDrafts', on }] as const]),
    ...(hooks === undefined ? [] : [['hooks', { type: 'AllowHooks', hash: hooks?.hash ?? null }] as const]),
    ...(services ? [['services', { type: 'ChooseServices', services }] as const] : []),
    ...(repositories ? [['submodules', { type: 'ChooseSubmodules', repositories }] as const] : []),
  ]
}

async function isNew(services: CommandServices, projectId: string, commandId: string): Promise<boolean> {
  return !(await services.commands.hasTakenEffect(projectDecider, projectStream(projectId), commandId))
}

/** Throws, before anything is changed, if the command would be refused. */
async function refuseEarly(
  services: CommandServices,
  projectId: string,
  command: ProjectCommand,
): Promise<void> {
  const { state } = await services.commands.load(projectDecider, projectStream(projectId))
  const decision = projectDecider.decide(command, state)
  if (isRefusal(decision)) throw new Fault(decision.refused, decision.sentence, decision.field)
}

/**
 * Throws when all secrets of the project together would exceed the limit. Two requests at the same time may exceed it together, which does no harm:
 * output can be searched for secrets of twice the limit.
 */
async function refuseTooMuch(
  { commands, projectSecrets }: CommandServices,
  projectId: string,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<void> {
  const { state } = await commands.load(projectDecider, projectStream(projectId))
  const others = state.kind === 'project' ? [...state.secrets.keys()].filter((other) => other !== name) : []
  const values = await projectSecrets.valuesOf(projectId, others)
  const bytes = [...values.values()].reduce((sum, other) => sum + bytesOf(other), bytesOf(value))
  if (bytes > settingsLimits.allSecretsBytes)
    throw new Fault('invalid_input', 'All secrets of a project together can be at most 128 KiB.', 'value')
}

const noProject = () => new Fault('not_found', 'There is no such project.')

async function shown(
  services: CommandServices,
  projectId: string,
  { head, position }: Executed<ProjectState>,
): Promise<{ settings: ShownSettings; position?: string; stale?: true }> {
  const placed = await written(position, services)
  const stream = projectStream(projectId)
  const document = await services.documents.asOf(projectSettingsView, stream, projectId, head)
  return { settings: settingsOf(document), ...placed }
}
