/** What every vault must do. Scopes have fresh names, so a vault that already contains keys can be used. */
import * as fc from 'fast-check'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CannotOpen, KeyDestroyed, KeyMissing, WrongMasterKey } from '#platform/ports/faults.ts'
import type { Vault, VaultEntry } from '#platform/ports/vault.ts'
import { randomRuns } from '../longRun.ts'

export interface OpenVault {
  readonly vault: Vault
  /** Closes the vault and opens another one on the same data, with the same master key or another. */
  readonly reopen: (masterKey?: Uint8Array) => Promise<Vault>
  readonly close: () => Promise<void>
}

export function vaultContract(name: string, open: () => Promise<OpenVault>): void {
  describe(`vault: ${name}`, () => {
    let opened: OpenVault
    let vault: Vault
    let scope: string
    beforeEach(async () => {
      opened = await open()
      vault = opened.vault
      scope = `task:${randomUUID()}`
    })
    afterEach(() => opened.close())

    const words = Buffer.from('what a person wrote')
    const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()

    test('any bytes open as they were sealed, and no two sealings are alike', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.string(), async (plain, context) => {
          const sealed = await vault.seal(scope, context, plain)
          expect(Buffer.from((await vault.open(scope, context, sealed)) ?? 'nothing')).toEqual(
            Buffer.from(plain),
          )
          expect(await vault.seal(scope, context, plain)).not.toEqual(sealed)
        }),
        { numRuns: randomRuns(50) },
      )
    })

    test('sealed bytes do not hold the plain ones', async () => {
      expect(Buffer.from(await vault.seal(scope, 'c', words)).includes(words)).toBe(false)
    })

    test('bytes of which any bit was changed, or that were cut or added to, do not open', async () => {
      const sealed = Buffer.from(await vault.seal(scope, 'c', words))
      const bit = fc.integer({ min: 0, max: sealed.length * 8 - 1 })
      await fc.assert(
        fc.asyncProperty(bit, async (index) => {
          const changed = Buffer.from(sealed)
          changed[index >> 3] = (changed[index >> 3] ?? 0) ^ (1 << (index & 7))
          await expect(vault.open(scope, 'c', changed)).rejects.toThrow(CannotOpen)
        }),
      )
      for (let length = 0; length < sealed.length; length += 1) {
        await expect(vault.open(scope, 'c', sealed.subarray(0, length))).rejects.toThrow(CannotOpen)
      }
      await expect(vault.open(scope, 'c', Buffer.concat([sealed, Buffer.of(0)]))).rejects.toThrow(CannotOpen)
    })

    test('what is sealed for one scope and context opens for no other', async () => {
      const another = `task:${randomUUID()}`
      await vault.seal(another, 'c', words)
      const sealed = await vault.seal(scope, 'c', words)
      await expect(vault.open(scope, 'd', sealed)).rejects.toThrow(CannotOpen)
      await expect(vault.open(another, 'c', sealed)).rejects.toThrow(CannotOpen)
      await expect(vault.open('task:never used', 'c', sealed)).rejects.toThrow(KeyMissing)
      expect(text(await vault.open(scope, 'c', sealed))).toBe('what a person wrote')
    })

    test('pieces of one scope open together, and one that was changed does not keep the others from it', async () => {
      const sealed = await vault.seal(scope, 'c', words)
      const [whole, cut] = [
        { context: 'c', sealed },
        { context: 'c', sealed: sealed.subarray(1) },
      ]
      const [first, second, third] = await vault.openAll(scope, [whole, cut, whole])
      expect([first, third].map((piece) => piece instanceof Uint8Array && text(piece))).toEqual([
        'what a person wrote',
        'what a person wrote',
      ])
      expect(second).toBeInstanceOf(CannotOpen)
      await expect(vault.openAll('task:never used', [whole])).rejects.toThrow(KeyMissing)
      await vault.destroy(scope)
      expect(await vault.openAll(scope, [whole, cut])).toEqual([undefined, undefined])
    })

    test('after its key was destroyed nothing of a scope opens, and nothing more is sealed for it', async () => {
      const sealed = await vault.seal(scope, 'c', words)
      await vault.putSecret(scope, 'TOKEN', 'secret')
      const isErased = async () => {
        expect(await vault.open(scope, 'c', sealed)).toBeUndefined()
        expect(await vault.getSecret(scope, 'TOKEN')).toBeUndefined()
        await expect(vault.seal(scope, 'c', words)).rejects.toThrow(KeyDestroyed)
        await expect(vault.putSecret(scope, 'TOKEN', 'again')).rejects.toThrow(KeyDestroyed)
      }
      await vault.destroy(scope)
      await isErased()
      await vault.destroy(scope)
      vault = await opened.reopen()
      await isErased()
    })

    test('a scope may be destroyed before it was ever used', async () => {
      await vault.destroy(scope)
      await expect(vault.seal(scope, 'c', words)).rejects.toThrow(KeyDestroyed)
    })

    test('destroying one scope leaves the others', async () => {
      const another = `user:${randomUUID()}`
      const sealed = await vault.seal(another, 'c', words)
      await vault.putSecret(another, 'TOKEN', 'secret')
      await vault.seal(scope, 'c', words)
      await vault.destroy(scope)
      expect(text(await vault.open(another, 'c', sealed))).toBe('what a person wrote')
      expect(await vault.getSecret(another, 'TOKEN')).toBe('secret')
    })

    test('secrets are kept by scope and name, replaced and removed', async () => {
      const another = `user:${randomUUID()}`
      await vault.putSecret(scope, 'TOKEN', 'first')
      await vault.putSecret(scope, 'TOKEN', 'naïve 👩‍💻')
      await vault.putSecret(scope, 'EMPTY', '')
      await vault.putSecret(another, 'TOKEN', 'another')
      expect(await vault.getSecret(scope, 'TOKEN')).toBe('naïve 👩‍💻')
      expect(await vault.getSecret(scope, 'EMPTY')).toBe('')
      expect(await vault.getSecret(another, 'TOKEN')).toBe('another')
      await vault.removeSecret(scope, 'TOKEN')
      await vault.removeSecret(scope, 'TOKEN')
      expect(await vault.getSecret(scope, 'TOKEN')).toBeUndefined()
      expect(await vault.getSecret(scope, 'NEVER')).toBeUndefined()
      expect(await vault.getSecret(another, 'TOKEN')).toBe('another')
    })

    test('a secret is removed only while it is the one that is meant, where one is', async () => {
      await vault.putSecret(scope, 'TOKEN', 'new')
      await vault.removeSecret(scope, 'TOKEN', 'old')
      await vault.removeSecret(scope, 'NEVER', 'old')
      expect(await vault.getSecret(scope, 'TOKEN')).toBe('new')
      await vault.removeSecret(scope, 'TOKEN', 'new')
      expect(await vault.getSecret(scope, 'TOKEN')).toBeUndefined()
    })

    test('many scopes keep their keys apart, also seals of one new scope that are under way together', async () => {
      const scopes = Array.from({ length: 1_200 }, (_, index) => `${scope}-${index % 1_100}`)
      const sealed = await Promise.all(scopes.map((each) => vault.seal(each, 'c', Buffer.from(each))))
      const opened = await Promise.all(
        scopes.map((each, index) => vault.open(each, 'c', sealed[index] ?? words)),
      )
      expect(opened.map(text)).toEqual(scopes)
    })

    test('what was sealed opens after a restart with the same master key', async () => {
      const sealed = await vault.seal(scope, 'c', words)
      await vault.putSecret(scope, 'TOKEN', 'secret')
      const derived = vault.deriveKey('sign-in')
      vault = await opened.reopen()
      await vault.ready()
      expect(text(await vault.open(scope, 'c', sealed))).toBe('what a person wrote')
      expect(await vault.getSecret(scope, 'TOKEN')).toBe('secret')
      expect(vault.deriveKey('sign-in')).toEqual(derived)
    })

    test('what is stored is carried as it is: keys, destroyed keys and secrets', async () => {
      const gone = `task:${randomUUID()}`
      const sealed = await vault.seal(scope, 'c', words)
      await vault.putSecret(scope, 'TOKEN', 'secret')
      await vault.putSecret(scope, 'A', 'another')
      const sealedOfGone = await vault.seal(gone, 'c', words)
      await vault.destroy(gone)
      const own = async () => {
        const found: VaultEntry[] = []
        for await (const entries of vault.entries())
          found.push(...entries.filter((entry) => entry.scope === scope || entry.scope === gone))
        return found
      }
      const stored = await own()
      const places = stored.map((entry) => [entry.scope, entry.name, entry.sealed !== null])
      expect(places.filter(([of]) => of === scope)).toEqual([
        [scope, null, true],
        [scope, 'A', true],
        [scope, 'TOKEN', true],
      ])
      expect(places.filter(([of]) => of === gone)).toEqual([[gone, null, false]])
      expect(JSON.stringify(stored)).not.toContain('secret')

      await vault.destroy(scope)
      await vault.importEntries(stored)
      await vault.importEntries([])
      expect(text(await vault.open(scope, 'c', sealed))).toBe('what a person wrote')
      expect(await vault.getSecret(scope, 'TOKEN')).toBe('secret')
      expect(await vault.open(gone, 'c', sealedOfGone)).toBeUndefined()
      await vault.importEntries([{ scope, name: null, sealed: null }])
      expect(await vault.open(scope, 'c', sealed)).toBeUndefined()
    })

    test('more keys and secrets than one page are all there, each once', async () => {
      const scopes = Array.from({ length: 2_100 }, (_, index) => `${scope}-${String(index).padStart(4, '0')}`)
      const names = Array.from({ length: 210 }, (_, index) => `N${String(index).padStart(3, '0')}`)
      const sealed = Buffer.from('sealed')
      await vault.importEntries(scopes.map((each) => ({ scope: each, name: null, sealed })))
      await vault.importEntries(names.map((name) => ({ scope, name, sealed })))
      const found: string[] = []
      for await (const entries of vault.entries())
        for (const entry of entries) if (entry.scope.startsWith(scope)) found.push(entry.name ?? entry.scope)
      expect(found).toEqual([...scopes, ...names])
    })

    test('another master key is refused at the door, and the right one still opens', async () => {
      const sealed = await vault.seal(scope, 'c', words)
      await expect(opened.reopen(randomBytes(32))).rejects.toThrow(WrongMasterKey)
      vault = await opened.reopen()
      expect(text(await vault.open(scope, 'c', sealed))).toBe('what a person wrote')
    })

    test('each purpose has a 32-byte key of its own', () => {
      const key = vault.deriveKey('sign-in')
      expect(key).toHaveLength(32)
      expect(vault.deriveKey('sign-in')).toEqual(key)
      expect(vault.deriveKey('uploads')).not.toEqual(key)
    })
  })
}
