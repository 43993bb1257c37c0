/** A file system for a test: ext4 or another in a file, without blocks reserved for root. Requires root and a loop device. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ownFolder } from '../product.ts'

export interface LoopDisk {
  /** The folder in which it is mounted. */
  readonly folder: string
  freeMegabytes(): number
  close(): Promise<void>
}

/** How each kind is created and mounted. */
const kinds = {
  ext4: { make: ['mkfs.ext4', '-q', '-F', '-m', '0'], options: 'loop' },
  'ext4 with project quotas': {
    make: ['mkfs.ext4', '-q', '-F', '-m', '0', '-O', 'quota,project', '-E', 'quotatype=prjquota'],
    options: 'loop,prjquota',
  },
  'xfs with project quotas': { make: ['mkfs.xfs', '-q', '-f'], options: 'loop,prjquota' },
} as const
export type DiskKind = keyof typeof kinds

/** A disk of this many megabytes that belongs to a user; or the reason why there is none. */
export async function loopDisk(
  megabytes: number,
  owner = 0,
  kind: DiskKind = 'ext4',
): Promise<LoopDisk | string> {
  if (process.getuid?.() !== 0) return 'only root may mount a disk'
  const place = await ownFolder()
  const [image, folder] = [join(place, 'image'), join(place, 'disk')]
  await mkdir(folder)
  const call = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, {
      stdio: 'pipe',
      env: { PATH: '/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin' },
    })
  try {
    writeFileSync(image, '')
    truncateSync(image, megabytes * 1e6)
    const { make, options } = kinds[kind]
    const [program, ...args] = make
    call(program, ...args, image)
    call('mount', '-o', options, image, folder)
  } catch {
    await rm(place, { recursive: true, force: true })
    return `no disk of ${kind} can be made and mounted here`
  }
  const unmount = () => void call('umount', '-l', folder)
  // An interrupted test run must leave no mount.
  process.once('exit', unmount)
  chmodSync(folder, 0o711)
  chownSync(folder, owner, owner)
  return {
    folder,
    freeMegabytes() {
      const { bavail, bsize } = statfsSync(folder)
      return (bavail * bsize) / 1e6
    },
    async close() {
      process.off('exit', unmount)
      unmount()
      await rm(place, { recursive: true, force: true })
    },
  }
}
