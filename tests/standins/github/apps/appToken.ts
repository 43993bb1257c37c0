/** Identifies an App by a JSON Web Token that it signs with its key, for at most 10 minutes. */
import { createPublicKey } from 'node:crypto'
import { decodeJwt, errors, jwtVerify } from 'jose'
import type { Context } from 'koa'
import { Refusal } from '../../../../services/codehost/httpError.ts'
import type { GitHubHost } from '../host.ts'
import type { App } from '../state.ts'
import { tokenOf } from '../../../../services/codehost/http/authenticate.ts'

const longestLife = 600
/** How many seconds clocks may differ by. */
const tolerance = 60

const undecodable = () => new Refusal(401, 'A JSON web token could not be decoded')

const faults = {
  exp: "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
  far: "'Expiration time' claim ('exp') is too far in the future",
  iat: "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
  iss: "Missing 'issuer' claim ('iss') in assertion",
} as const

/** The App whose token came with the request. Throws Refusal 401 with GitHub's sentences, and 404 for an App that is not here. */
export async function asApp(ctx: Context, host: Pick<GitHubHost, 'github' | 'clock'>): Promise<App> {
  const token = tokenOf(ctx)
  if (token === undefined) throw undecodable()
  const { exp, iat, iss } = claimsOf(token)
  const now = Math.floor(host.clock.now().getTime() / 1000)
  if (iss === undefined) throw new Refusal(401, faults.iss)
  if (typeof exp !== 'number' || exp <= now) throw new Refusal(401, faults.exp)
  if (exp > now + longestLife + tolerance) throw new Refusal(401, faults.far)
  if (typeof iat !== 'number' || iat > now + tolerance) throw new Refusal(401, faults.iat)
  const issuer = String(iss)
  const app = host.github.current().apps.find((one) => one.clientId === issuer || String(one.id) === issuer)
  if (!app) throw new Refusal(404, 'Integration not found')
  if (app.publicKey === null) throw undecodable()
  try {
    await jwtVerify(token, createPublicKey(app.publicKey), {
      algorithms: ['RS256'],
      currentDate: host.clock.now(),
    })
  } catch (error) {
    throw error instanceof errors.JOSEError ? undecodable() : error
  }
  return app
}

/** The claims of the token, before its signature is checked. Octokit sends `iss` as a number when it was given one. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return decodeJwt(token)
  } catch {
    throw undecodable()
  }
}
