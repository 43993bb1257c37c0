/** The route that changes a person's own instructions and commands for agents. */
import { updateInstructions } from '#domain/api/instructions.schema.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user as userDecider } from '#domain/user/user.ts'
import { instructionsView, noInstructions } from '#domain/views/instructions.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, written, type CommandServices } from '../services.ts'

export const instructionRoutes: readonly Route<CommandServices>[] = [
  route(updateInstructions, signedIn, async ({ body, user, actor, commandId }, services) => {
    const stream = userStream(user.id)
    const before = (await services.documents.now(instructionsView, stream, user.id)) ?? noInstructions
    const to = {
      instructions: body.instructions ?? before.instructions,
      commands: body.commands ?? before.commands,
    }
    const command = { type: 'ChangeInstructions', to } as const
    const { position } = await services.commands.execute(userDecider, stream, command, { actor, commandId })
    return { ...to, commands: [...to.commands], ...(await written(position, services)) }
  }),
]
