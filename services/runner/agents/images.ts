/** Gives an agent the images of a message: inside the message, or as files in the agent's home that the message names. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Agent, AgentImage, AgentMessage, HomeFile } from './port.ts'

const endings = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/gif': 'gif', 'image/webp': 'webp' } as const

/** The files that the agent's home needs for the images of a message. They are written before the agent and its services begin. */
export function imageFiles(agent: Pick<Agent, 'images'>, images: readonly AgentImage[]): readonly HomeFile[] {
  return agent.images === 'files' ? images.map(fileOf) : []
}

/** The message as the agent expects it. For an agent that reads images from files, it names those of `imageFiles`; `home` is a path in the sandbox. */
export function messageFor(agent: Pick<Agent, 'images'>, message: AgentMessage, home: string): AgentMessage {
  const { text, images, id } = message
  if (agent.images === 'inline') return message
  const paths = images.map((image) => join(home, fileOf(image).path))
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
function fileOf({ mediaType, base64 }: AgentImage): HomeFile {
  const content = Buffer.from(base64, 'base64')
  const name = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return { path: `images/${name}.${endings[mediaType]}`, content, onlyOnce: false }
}
