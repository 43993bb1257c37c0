/** An agent's program, where its box shows it. */
import { basename, join } from 'node:path'
import type { Bind } from '../sandbox/port.ts'
import type { Found } from './locate.ts'

const folderInBox = '/opt/agent'

/** The program alone, or with the parts that lie beside it: what else there is on the host is none of the agent's business. */
export function programBind({ path, shown }: Found): Bind {
  return { source: shown, target: shown === path ? `${folderInBox}/agent` : folderInBox }
}

/** The program's path, where what is bound for it is seen at `seen`. */
export function programIn({ path, shown }: Found, seen: string): string {
  return shown === path ? seen : join(seen, basename(path))
}
