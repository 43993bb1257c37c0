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
  perTurn: 20,
  /** The most files that are kept for a task. */
  perTask: 200,
  /** The most bytes of all kept files of a task together: 100 MiB. */
  bytesOfTask: 100 * 1_048_576,
  /** The maximum size of a file: 10 MiB. */
  bytes: 10 * 1_048_576,
  /** The most files and folders in the artifact folder that are looked at. */
  entriesExamined: 1_000,
  nameLength: 200,
} as const

/** The media types of artifacts that are not images. A file of an unrecognised type is `application/octet-stream`. */
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
