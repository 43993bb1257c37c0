/** Gives an agent the images of a message: inside the message, or as files in the agent's home that the message names. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { HostUser } from '#platform/childProcess.ts'
import { writeHome } from './home.ts'
import type { Agent, AgentImage, AgentMessage } from './port.ts'

/** The agent's home: its path on this machine, its path in the sandbox, and its owner. */
export interface AgentHome {
  readonly dir: string
  readonly seenAs: string
  readonly owner?: HostUser | undefined
}

const endings = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/gif': 'gif', 'image/webp': 'webp' } as const

/** The message as the agent expects it. If the agent reads images from files, the images are first written into the agent's home. */
export async function messageFor(
  agent: Pick<Agent, 'images'>,
  message: AgentMessage,
  home: AgentHome,
): Promise<AgentMessage> {
  const { text, images, id } = message
  if (agent.images === 'inline') return message
  const files = images.map(fileOf)
  await writeHome(home.dir, files, home.owner)
  const paths = files.map(({ path }) => join(home.seenAs, path))
  return { text: withImagePaths(text, paths), images: [], id }
}

/** A message that names its images by their paths in the sandbox. */
export function withImagePaths(text: string, paths: readonly string[]): string {
  if (paths.length === 0) return text
  const request = paths.length === 1 ? 'Look at this image:' : 'Look at these images:'
  const list = paths.map((path) => `- ${path}`).join('\n')
  return `${text === '' ? '' : `${text}\n\n`}${request}\n${list}\n`
}

/** The file of an image. Its name is made from its content, so an image has the same file in every turn, and the files of earlier turns stay. */
function fileOf({ mediaType, base64 }: AgentImage) {
  const content = Buffer.from(base64, 'base64')
  const name = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return { path: `images/${name}.${endings[mediaType]}`, content, onlyOnce: false }
}
