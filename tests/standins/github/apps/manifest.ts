/**
 * Manifests from which Apps are created, checked as GitHub does:
 * https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
import { z } from 'zod'
import { isLoopback } from '../../../../services/codehost/http/origin.ts'
import type { Permissions } from '../state.ts'
import { alwaysSent } from './events.ts'
import { grants, isPermissionName, type Wanted } from './permissions.ts'

const address = z.url({ protocol: /^https?$/ })

const Manifest = z.object({
  name: z.string().max(34).optional(),
  url: address,
  description: z.string().max(2_000).optional(),
  hook_attributes: z.object({ url: address, active: z.boolean().default(true) }).optional(),
  redirect_url: address.optional(),
  callback_urls: z.array(address).max(10).default([]),
  setup_url: address.optional(),
  setup_on_update: z.boolean().default(false),
  request_oauth_on_install: z.boolean().default(false),
  public: z.boolean().default(false),
  default_permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).default({}),
  default_events: z.array(z.string()).default([]),
})
export type Manifest = z.infer<typeof Manifest>

/** The permissions with which an event may be subscribed to: one of them is enough. */
const permissionsOfEvents: Readonly<Record<string, readonly Wanted[]>> = {
  check_run: [{ checks: 'read' }],
  check_suite: [{ checks: 'read' }],
  create: [{ contents: 'read' }],
  delete: [{ contents: 'read' }],
  // When an App is created, `pull_requests` alone is not enough, although pull requests have comments too.
  issue_comment: [{ issues: 'read' }],
  issues: [{ issues: 'read' }],
  label: [{ metadata: 'read' }],
  member: [{ members: 'read' }],
  membership: [{ members: 'read' }],
  merge_group: [{ merge_queues: 'read' }],
  organization: [{ members: 'read' }],
  pull_request: [{ pull_requests: 'read' }],
  pull_request_review: [{ pull_requests: 'read' }],
  pull_request_review_comment: [{ pull_requests: 'read' }],
  pull_request_review_thread: [{ pull_requests: 'read' }],
  push: [{ contents: 'read' }],
  release: [{ contents: 'read' }],
  repository: [{ metadata: 'read' }],
  status: [{ statuses: 'read' }],
  team: [{ members: 'read' }],
  workflow_job: [{ actions: 'read' }],
  workflow_run: [{ actions: 'read' }],
}

/** Events that these permissions do not cover. */
export const uncovered = (events: readonly string[], permissions: Permissions): readonly string[] =>
  events.filter((event) => !permissionsOfEvents[event]?.some((wanted) => grants(permissions, wanted)))

/** Reads the manifest in a form; reports faults in GitHub's sentences. */
export function readManifest(
  text: string,
  { takesLoopbackHooks }: { readonly takesLoopbackHooks: boolean },
): { readonly manifest: Manifest } | { readonly faults: readonly string[] } {
  const json = parsed(text)
  if (json === undefined) return { faults: ['The manifest is not valid JSON.'] }
  const read = Manifest.safeParse(json)
  if (!read.success) return { faults: [...new Set(read.error.issues.map(faultOf))] }
  const faults = faultsOf(read.data, takesLoopbackHooks)
  return faults.length > 0 ? { faults } : { manifest: read.data }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** GitHub names only the last part of the missing member's path, so a missing address of the hook reads like that of the home page. */
function faultOf({ path, code, message }: z.core.$ZodIssue): string {
  const field = String(path.at(-1) ?? 'manifest')
  const isMissing = code === 'invalid_type' && message.includes('undefined')
  return isMissing ? `Error "${field}" wasn't supplied.` : `Error "${path.join('.')}": ${message}.`
}

function faultsOf(manifest: Manifest, takesLoopbackHooks: boolean): readonly string[] {
  const { default_permissions: permissions, default_events: events, hook_attributes: hook } = manifest
  const unknown = Object.keys(permissions).filter((name) => !isPermissionName(name))
  const unsupported = events.filter(
    (event) => permissionsOfEvents[event] === undefined || alwaysSent.some((one) => one === event),
  )
  const missing = uncovered(
    events.filter((event) => !unsupported.includes(event)),
    permissions,
  )
  return [
    ...unknown.map((name) => `Default permission records resource is not included in the list: ${name}`),
    ...(unsupported.length > 0 ? [`Default events unsupported: ${unsupported.join(', ')}`] : []),
    ...(missing.length > 0 ? [`Default events are not supported by permissions: ${missing.join(', ')}`] : []),
    ...(hook && !takesLoopbackHooks && isPrivateHook(hook.url)
      ? [
          `Hook url is not supported because it isn't reachable over the public Internet (${new URL(hook.url).hostname})`,
        ]
      : []),
  ]
}

/** Whether a hook's address is this machine, which GitHub can never reach. */
export const isPrivateHook = (url: string): boolean =>
  isLoopback(new URL(url).hostname) || new URL(url).hostname === '0.0.0.0'
