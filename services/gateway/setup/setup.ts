/**
 * `/api/setup`: creates the GitHub App of this server by GitHub's manifest flow, once. The browser posts the manifest to the code host itself, and
 * returns with a code that can be exchanged for the App's secrets.
 */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { Router } from '@koa/router'
import type { JWTPayload } from 'jose'
import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { setupPath, setupRoutes as paths, type SetupError } from '#domain/api/setup.ts'
import { beginSetup, getSetup } from '#domain/api/setup.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { usersView } from '#domain/views/users.ts'
import { isSetupCode } from './announce.ts'
import { routeWith, type Route } from '#platform/http/route.ts'
import type { Identity } from '#platform/http/session.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { cookieOptions, signedClaims } from '../auth/signedClaims.ts'
import { originOf, isOurHost } from '../http/allowedHosts.ts'
import type { GatewayOptions, GatewayServices } from '../services.ts'
import { manifestOf } from './manifest.ts'
import { registerApp } from './registerApp.ts'

const cookie = 'flightdeck_setup'
/** The time that the code host allows for all steps of creating an App together. */
const seconds = 3_600

/** The content of the cookie. `origin` is the confirmed address; `code` is the code host's code, if it could not be exchanged at once. */
const Journey = z.object({
  state: z.string(),
  jti: z.uuid(),
  by: z.string().nullable(),
  origin: z.string(),
  code: z.string().nullable(),
})
type Journey = z.infer<typeof Journey>
const Done = z.object({ done: z.literal(true) })
const ofJourney = { path: `/api${setupPath}`, seconds, sameSite: 'lax' } as const
const claimsOf = (services: GatewayServices) => signedClaims(services, 'setup-journey', seconds)

const route = routeWith<GatewayServices>()
type Options = Pick<GatewayOptions, 'publicUrl' | 'port' | 'host'>

/** The calls of the set-up page. */
export function setupRoutes(options: Options): readonly Route<GatewayServices>[] {
  return [
    route(
      getSetup,
      async () => ({}),
      async ({ client }, services) => {
        const isOpen = await isSetupOpen(services)
        const hostUrl = new URL(newAppUrl(services, originOf(client, options), '', null)).origin
        const isMaker =
          !isOpen &&
          services.codeHost.ownToken === undefined &&
          (await claimsOf(services).read(client.cookies.get(cookie), Done)) !== undefined
        const installUrl = isMaker ? (await services.codeHost.appUrls()).install : null
        return { isOpen, publicUrl: options.publicUrl, hostUrl, installUrl }
      },
    ),
    route(
      beginSetup,
      async () => ({}),
      async ({ body, identity, client }, services) => {
        if (!(await isSetupOpen(services))) throw new Fault('setup_closed')
        const by = await allowed(services, identity, body.code)
        const publicUrl = confirmed(body.publicUrl, options)
        if (publicUrl.startsWith('https:') && !client.secure) throw openedByHttp(publicUrl)
        const state = randomBytes(24).toString('base64url')
        const journey: Journey = { state, jti: randomUUID(), by, origin: publicUrl, code: null }
        client.cookies.set(
          cookie,
          await claimsOf(services).sign(journey),
          cookieOptions(publicUrl, ofJourney),
        )
        const manifest = JSON.stringify(manifestOf({ ...body, publicUrl }))
        return { action: newAppUrl(services, originOf(client, options), state, body.organization), manifest }
      },
    ),
  ]
}

/** Whether an App can still be created. Single-user mode has no App. */
async function isSetupOpen({ hostApp, codeHost }: GatewayServices): Promise<boolean> {
  return codeHost.ownToken === undefined && (await hostApp.current()) === undefined
}

/** Handles the browser's return from the code host, and redirects to the set-up page. A request without a query tries the earlier code again. */
export function setupCallback(services: GatewayServices): Middleware {
  const router = new Router({ sensitive: true })
  router.get(`/api${paths.setupCallback.path}`, async (context) => {
    const outcome = await finish(services, context)
    context.redirect(outcome === null ? setupPath : `${setupPath}?error=${outcome}`)
  })
  const dispatch = router.routes()
  return (context, next) => dispatch(context as Parameters<typeof dispatch>[0], next)
}

const Answer = z.object({ code: z.string().regex(/^[\w-]{1,200}$/), state: z.string().max(200) })

/** The code in the query, if the query's state matches the cookie's; for an empty query, the earlier code in the cookie. */
function codeOf({ query }: Pick<Context, 'query'>, journey: Journey): string | undefined {
  if (Object.keys(query).length === 0) return journey.code ?? undefined
  const answer = Answer.safeParse(query)
  return answer.success && same(answer.data.state, journey.state) ? answer.data.code : undefined
}

/** Stores the created App. Returns `null`, or why there is no App. */
async function finish(services: GatewayServices, { cookies, query }: Context): Promise<SetupError | null> {
  const journey = await claimsOf(services).read(cookies.get(cookie), Journey)
  const code = journey && codeOf({ query }, journey)
  // An answer that does not match this browser's cookie leaves the cookie as it is.
  if (journey === undefined || code === undefined) return 'session_lost'
  if ((await services.hostApp.current()) !== undefined) return null
  const { again } = await services.recentKeys.remember({ id: journey.jti, person: 'setup' }, journey.state)
  if (again) return 'session_lost'
  const keep = async (claims: JWTPayload | null) =>
    cookies.set(
      cookie,
      claims && (await claimsOf(services).sign(claims)),
      cookieOptions(journey.origin, ofJourney),
    )
  try {
    const app = await services.codeHostApps.convertManifest(code)
    const isKept = await registerApp(services, app, journey.by)
    await keep(isKept ? { done: true } : null)
    return null
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    services.logger.warn({ err: fault }, 'the GitHub App was not made')
    if (fault.kind === 'unavailable' || fault.kind === 'rate_limited') {
      // The code is valid for an hour, and it is kept. Without the code, the App that was made on GitHub would be lost.
      await keep({ ...journey, jti: randomUUID(), code })
      return 'unavailable'
    }
    await keep(null)
    return fault.kind === 'not_found' ? 'code_expired' : 'refused'
  }
}

const openedByHttp = (publicUrl: string): Fault =>
  new Fault(
    'invalid_input',
    `This page came by plain http, so GitHub's answer would be lost on the way back to ${publicUrl}. Open ${publicUrl}${setupPath} with the same code; where a proxy in front ends https, set TRUST_PROXY, and have the proxy send X-Forwarded-Proto.`,
    'publicUrl',
  )

/** Who sets up the server: the administrator's id, or `null` for somebody with the right code. Throws `forbidden` for anybody else. */
async function allowed(
  { documents, accessControl, vault }: GatewayServices,
  identity: Identity | null,
  code: string | undefined,
): Promise<string | null> {
  if (code !== undefined && isSetupCode(code, vault)) return null
  const user = identity && (await documents.get(usersView, identity.userId))
  const isOpen = user && !user.endedSessions.some(({ sessionId }) => sessionId === identity.sessionId)
  if (isOpen && (await accessControl.isAdmin(user))) return user.id
  throw new Fault(
    'forbidden',
    'Open the address that the server printed when it started, which holds the code for the set-up, or sign in as an administrator.',
  )
}

/** Returns the origin of the confirmed address. Refuses an address that is not ours, since the App would send people and their codes there. */
function confirmed(given: string, options: Options): string {
  const { origin, host, hostname } = new URL(given)
  const { publicUrl } = options
  if (publicUrl !== null && origin === new URL(publicUrl).origin) return origin
  const isHere = isOurHost(host, options) && (publicUrl === null || isLoopback(hostname))
  if (isHere) return origin
  const sentence =
    publicUrl === null
      ? 'Set PUBLIC_URL to this address and start the server again: it does not answer to that name yet.'
      : `This server is reached at ${publicUrl}, as PUBLIC_URL says.`
  throw new Fault('invalid_input', sentence, 'publicUrl')
}

const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)

const newAppUrl = (
  { codeHostApps }: Pick<GatewayServices, 'codeHostApps'>,
  origin: string,
  state: string,
  organization: string | null,
): string => codeHostApps.newAppUrl({ origin, state, organization })

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
