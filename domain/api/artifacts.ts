/** Artifacts, the files that an agent leaves for people: routes, limits and types. */
import type { MediaType } from '../image.ts'
import type { Routes } from './route.ts'

export const artifactRoutes = {
  listArtifacts: { method: 'GET', path: '/tasks/:taskId/artifacts' },
} as const satisfies Routes

/** The folder of a workspace in which an agent leaves artifacts. Nothing in it is part of the task's changes. */
export const artifactFolder = '.flightdeck/artifacts'

export const artifactLimits = {
  /** The most files that are kept at the end of a turn. */
  aTurn: 20,
  /** The most files of a task, and their size together: 100 MiB. */
  aTask: 200,
  bytesOfTask: 100 * 1_048_576,
  /** The maximum size of a file: 10 MiB. */
  bytes: 10 * 1_048_576,
  /** The most files and folders that are looked at. */
  looked: 1_000,
  nameLength: 200,
} as const

/** The media types of artifacts that are no images. Whatever is not recognised is `application/octet-stream`. */
export const otherArtifactTypes = [
  'video/mp4',
  'video/webm',
  'application/pdf',
  'text/plain',
  'application/octet-stream',
] as const

export type ArtifactType = MediaType | (typeof otherArtifactTypes)[number]

export function isImageType(type: ArtifactType): type is MediaType {
  return type.startsWith('image/')
}
