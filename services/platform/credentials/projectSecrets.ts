/** The values of projects' secrets, and of headers for MCP servers, stored in the vault only, under a separate key for each owner. */
import { KeyDestroyed } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'

/** Secrets by name. `projectId` is the id of the project to which they belong. For headers of MCP servers, it can also be the id of a person. */
export interface ProjectSecrets {
  /** Stores a value, replacing an older one. Returns false, without storing anything, when the project was deleted in the meantime. */
  set(projectId: string, name: string, value: string): Promise<boolean>
  /** The stored values, by name. Names without a value are left out. */
  valuesOf(projectId: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>
  remove(projectId: string, name: string): Promise<void>
  /** Destroys all secrets of the project permanently, with their key. Can be repeated. */
  destroy(projectId: string): Promise<void>
}

export function projectSecrets({ vault }: { readonly vault: Vault }): ProjectSecrets {
  return secretsUnder(vault, 'project-secrets')
}

/** Values of headers for MCP servers, under the ids of the servers. */
export function mcpHeaders({ vault }: { readonly vault: Vault }): ProjectSecrets {
  return secretsUnder(vault, mcpPurpose)
}

const mcpPurpose = 'mcp-headers'
/** The vault's scope for further credentials of MCP servers, which are destroyed together with the headers. */
export const mcpScope = (owner: string): string => scopeOf(mcpPurpose, owner)
const scopeOf = (purpose: string, owner: string): string => `${purpose}:${owner}`

function secretsUnder(vault: Vault, purpose: string): ProjectSecrets {
  const scope = (projectId: string): string => scopeOf(purpose, projectId)
  return {
    async set(projectId, name, value) {
      try {
        await vault.putSecret(scope(projectId), name, value)
        return true
      } catch (fault) {
        if (fault instanceof KeyDestroyed) return false
        throw fault
      }
    },
    async valuesOf(projectId, names) {
      const found = await Promise.all(
        names.map(async (name) => [name, await vault.getSecret(scope(projectId), name)] as const),
      )
      return new Map(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])))
    },
    remove: (projectId, name) => vault.removeSecret(scope(projectId), name),
    destroy: (projectId) => vault.destroy(scope(projectId)),
  }
}
