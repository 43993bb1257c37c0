/** The API calls around a sign-in with the code host: one issues tickets for connecting an account, one returns the name of a refused account. */
import { getRefusal, linkGitHub } from '#domain/api/auth.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { identified } from '#platform/http/guards.ts'
import { routeWith, type Route } from '#platform/http/route.ts'
import { originOf } from '../http/allowedHosts.ts'
import type { GatewayOptions, GatewayServices } from '../services.ts'
import { ofTicket, signInPath, ticketCookie, tickets } from './linkTickets.ts'
import { oauthStates, refusalCookie } from './oauthState.ts'
import { hostCookieName, setHostCookie } from './signedClaims.ts'

const route = routeWith<GatewayServices>()

export function linkRoutes(
  options: Pick<GatewayOptions, 'publicUrl' | 'port'>,
): readonly Route<GatewayServices>[] {
  return [
    route(
      getRefusal,
      async () => ({}),
      async ({ client }, services) => {
        const cookie = client.cookies.get(hostCookieName(originOf(client, options), refusalCookie))
        const login = await oauthStates(services).refused(cookie)
        if (login === undefined) throw new Fault('not_found', 'No sign-in was refused recently.')
        return { login, sentence: services.accessControl.refusal(login) }
      },
    ),
    route(linkGitHub, identified, async ({ user: person, sessionId, client, body }, services) => {
      const linking = { userId: person.id, sessionId, taskId: body?.taskId }
      const { ticket, proof } = await tickets(services).issue(linking)
      setHostCookie(client.cookies, originOf(client, options), ticketCookie, proof, ofTicket)
      return { url: `${signInPath}?link=${ticket}` }
    }),
  ]
}
