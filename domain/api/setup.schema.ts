/** Creating the GitHub App of this server, once. */
import { z } from 'zod'
import { saying } from '../kernel/readInput.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { Text } from './fields.schema.ts'
import { longestAppName, setupRoutes } from './setup.ts'

export const getSetup = defineRead(setupRoutes.getSetup, {
  summary: 'Whether this server still needs its GitHub App, and where it would be made.',
  open: 'anybody',
  answer: {
    isOpen: z.boolean(),
    /** The server's public address, if it is configured. */
    publicUrl: z.string().nullable(),
    hostUrl: z.string(),
    /** The page for installing the App, given to the browser that has just created it. */
    installUrl: z.string().nullable(),
  },
})

const login = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$/, {
  error: saying('must be the name of an organization on GitHub.'),
})

export const beginSetup = defineWrite(setupRoutes.beginSetup, {
  summary:
    'A manifest for the GitHub App, and the address that a form posts it to. For an administrator, or with the code that the server printed at its start.',
  open: 'anybody',
  body: z.object({
    /** The code that the server printed at its start. */
    code: Text.max(200).optional(),
    /** The owner of the App: an organization, or `null` for the person who is signed in at the code host. */
    organization: login.nullable(),
    name: Text.trim().min(1).max(longestAppName),
    /** The server's public address, as confirmed by the person who sets it up. */
    publicUrl: z.url({ protocol: /^https?$/ }).max(200),
    /** Whether the code host can reach `publicUrl` to deliver webhooks. */
    hooks: z.boolean(),
    isPublic: z.boolean(),
    workflows: z.boolean(),
    members: z.boolean(),
  }),
  answer: { action: z.string(), manifest: z.string() },
  faults: ['forbidden', 'setup_closed', 'invalid_input'],
})
