/** The route that changes a person's own instructions and commands for agents. */
import { updateInstructions } from '#domain/api/instructions.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user as userDecider } from '#domain/user/user.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, written, type CommandServices } from '../services.ts'

export const instructionRoutes: readonly Route<CommandServices>[] = [
  route(updateInstructions, signedIn, async ({ body, user, actor, commandId }, services) => {
    const stream = userStream(user.id)
    const command = { type: 'ChangeInstructions', ...body } as const
    const cause = { actor, commandId }
    const { position, state } = await services.commands.execute(userDecider, stream, command, cause)
    if (state.kind !== 'user') throw new Fault('not_found')
    return { ...state.own, ...(await written(position, services)) }
  }),
]
