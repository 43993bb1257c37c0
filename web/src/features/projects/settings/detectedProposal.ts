/** Works out how saving a detected proposal changes the settings, and which values it replaces. */
import type { DetectedEnvironment, ShownSettings } from '#domain/api/projectSettings.schema.ts'

export type Proposal = Pick<DetectedEnvironment, 'setupCommand' | 'hosts' | 'variables'>

interface ProposedChange {
  /** Only the settings that change. */
  readonly change: Partial<Pick<ShownSettings, 'setupCommand' | 'egress' | 'variables'>>
  readonly replacesSetup: boolean
  /** The names of variables that the project already has with another value. */
  readonly replacedVariables: readonly string[]
}

/** Hosts and variables are added to those that exist; the setup command and variables of the same name are replaced. */
export function proposedChange(
  settings: Pick<ShownSettings, 'setupCommand' | 'egress' | 'variables'>,
  { setupCommand, hosts, variables }: Proposal,
): ProposedChange {
  const present = new Map(settings.variables.map(({ name, value }) => [name, value]))
  const changed = variables.filter(({ name, value }) => present.get(name) !== value)
  const newHosts = hosts.map(({ host }) => host).filter((host) => !settings.egress.includes(host))
  const hasNewSetup = setupCommand !== '' && setupCommand !== settings.setupCommand.trim()
  const all = new Map([...settings.variables, ...changed].map(({ name, value }) => [name, value]))
  return {
    change: {
      ...(hasNewSetup && { setupCommand }),
      ...(newHosts.length > 0 && { egress: [...settings.egress, ...newHosts] }),
      ...(changed.length > 0 && { variables: [...all].map(([name, value]) => ({ name, value })) }),
    },
    replacesSetup: hasNewSetup && settings.setupCommand.trim() !== '',
    replacedVariables: changed.map(({ name }) => name).filter((name) => present.has(name)),
  }
}
