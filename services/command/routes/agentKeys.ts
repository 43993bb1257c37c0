/** The route that sets and removes a person's own keys for the models of agents. A key is stored in the vault, and never in an event. */
import { setAgentKey } from '#domain/api/agentKeys.schema.ts'
import { endingOf } from '#domain/agentKeys.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user as userDecider, type UserCommand } from '#domain/user/user.ts'
import { usersView } from '#domain/views/users.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { storeKey } from '../storeKey.ts'
import { route, written, type CommandServices } from '../services.ts'

export const agentKeyRoutes: readonly Route<CommandServices>[] = [
  route(setAgentKey, signedIn, async ({ body, user, actor, commandId }, services) => {
    const { provider, kind, value } = body
    const { commands, modelKeys, documents } = services
    const stream = userStream(user.id)
    const holder = { kind: 'person', id: user.id } as const
    const execute = (command: UserCommand) =>
      commands.execute(userDecider, stream, command, { actor, commandId })
    const isRecorded = () => commands.hasTakenEffect(userDecider, stream, commandId)
    // A repeated request must not overwrite a key that another request has set since then.
    const isNew = !(await isRecorded())
    const remove = async () => {
      if (isNew) await modelKeys.remove(holder, provider)
      return execute({ type: 'RemoveAgentKey', provider })
    }
    const set = (key: string) => {
      const record = (checked: boolean) =>
        execute({ type: 'SetAgentKey', provider, kind, checked, ending: endingOf(key) })
      if (!isNew) return record(false)
      const entered = { holder, provider, key: { kind, value: key, baseUrl: null } }
      return storeKey(services, entered, { record, isRecorded })
    }
    const { head, position } = await (value === null ? remove() : set(value))
    const placed = await written(position, services)
    const document = await documents.asOf(usersView, stream, user.id, head)
    return { keys: [...(document?.agentKeys ?? [])], ...placed }
  }),
]
