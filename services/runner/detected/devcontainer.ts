/** Turns a devcontainer.json into proposed settings of a project, with sentences about the entries that are not followed. */
import { z } from 'zod'
import { ProjectVariable } from '#domain/api/projectSettings.schema.ts'
import { Text } from '#domain/api/fields.schema.ts'
import { settingsLimits } from '#domain/project/settings.ts'
import { jsonWithComments } from './jsonWithComments.ts'

export interface Devcontainer {
  /** Names the entries that ask for something, at most ten, such as "Asks for image"; empty when no entry does. */
  readonly says: string
  /** Shell commands, in the order in which they run. */
  readonly commands: readonly string[]
  readonly variables: readonly ProjectVariable[]
  readonly ports: readonly number[]
  readonly notes: readonly string[]
}

export const noDevcontainer: Devcontainer = { says: '', commands: [], variables: [], ports: [], notes: [] }

/** The commands that prepare a container once, in the order in which they run. */
const setupCommands = ['onCreateCommand', 'updateContentCommand', 'postCreateCommand'] as const
const laterCommands = ['postStartCommand', 'postAttachCommand'] as const
const privileges = ['privileged', 'capAdd', 'securityOpt', 'mounts', 'workspaceMount', 'runArgs'] as const
/** Entries of `devcontainer.json` that are for people and editors only. A workspace needs nothing from them. */
const silent: ReadonlySet<string> = new Set(['name', '$schema', 'customizations'])
const known: ReadonlySet<string> = new Set([
  ...setupCommands,
  ...laterCommands,
  ...privileges,
  'image',
  'build',
  'dockerFile',
  'dockerComposeFile',
  'features',
  'containerEnv',
  'forwardPorts',
  'initializeCommand',
  ...silent,
])

const Words = z.string().or(z.array(z.string()))
const Command = Words.or(z.record(z.string(), Words))
const File = z.record(z.string(), z.unknown())
/** Placeholders that only a devcontainer tool fills in, such as `${localEnv:HOME}`. */
const placeholder = /\$\{(?:localEnv|containerEnv|env|(?:local|container)WorkspaceFolder\w*|devcontainerId)\b/

/** Reads the devcontainer.json. `isContainer` says whether sandboxes on this runner are containers. */
export function readDevcontainer(file: string, text: string, isContainer: boolean): Devcontainer {
  const read = File.safeParse(jsonWithComments(text))
  if (!read.success)
    return {
      ...noDevcontainer,
      notes: [`${file} is not a JSON object, even without comments. Nothing of it is followed.`],
    }
  const entries = read.data
  const scripts = setupCommands.map((name) => commandsOf(name, entries[name]))
  const variables = variablesOf(entries['containerEnv'])
  const ports = portsOf(entries['forwardPorts'])
  const asked = Object.keys(entries).filter((name) => isAsked(entries[name]))
  return {
    says: saysOf(asked),
    commands: scripts.flatMap(({ commands }) => commands),
    variables: variables.variables,
    ports: ports.ports,
    notes: [
      ...imageNotes(entries, isContainer),
      ...privilegeNotes(entries),
      ...scripts.flatMap(({ notes }) => notes),
      ...laterNotes(asked),
      ...variables.notes,
      ...ports.notes,
      ...otherNotes(asked),
    ],
  }
}

const shownNames = 10
const shownCharacters = 80

/** Joins texts from the repository for a sentence: only a few, each short and with invisible characters as escapes. */
function named(texts: readonly string[]): string {
  const shown = texts.slice(0, shownNames).map((text) => {
    const cut = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
    return cut.replaceAll(
      /[\p{C}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    )
  })
  const more = texts.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function isAsked(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function saysOf(asked: readonly string[]): string {
  const shown = asked.filter((name) => !silent.has(name))
  return shown.length === 0 ? '' : `Asks for ${named(shown)}`
}

interface Commands {
  readonly commands: readonly string[]
  readonly notes: readonly string[]
}

function commandsOf(name: string, value: unknown): Commands {
  if (!isAsked(value)) return { commands: [], notes: [] }
  const notProposed = (why: string) => ({ commands: [], notes: [`${name} ${why}. It is not proposed.`] })
  const read = Command.safeParse(value)
  if (!read.success) return notProposed('is not a text, a list of texts or a group of these')
  const all =
    typeof read.data === 'string' || Array.isArray(read.data) ? [read.data] : Object.values(read.data)
  const commands = all
    .map((one) => (typeof one === 'string' ? one.trim() : one.map(shellWord).join(' ')))
    .filter((command) => command !== '')
  const script = commands.join('\n')
  if (placeholder.test(script))
    return notProposed('has placeholders such as ${localEnv:…}, which nothing fills in')
  const isShort = script.length <= settingsLimits.setupCommandLength / setupCommands.length
  return isShort && Text.safeParse(script).success
    ? { commands, notes: [] }
    : notProposed('is too long or has characters that cannot be stored')
}

/** A word of a command, quoted for a shell if it needs to be. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function variablesOf(value: unknown): { variables: readonly ProjectVariable[]; notes: readonly string[] } {
  if (!isAsked(value)) return { variables: [], notes: [] }
  const read = File.safeParse(value)
  if (!read.success)
    return { variables: [], notes: ['containerEnv is not a group of texts. It is not followed.'] }
  const all = Object.entries(read.data).map(([name, is]) => ({ name, value: is }))
  const filledIn = all.filter((one) => typeof one.value === 'string' && placeholder.test(one.value))
  const others = all.filter((one) => !filledIn.includes(one))
  const valid = others.flatMap((one) => ProjectVariable.safeParse(one).data ?? [])
  const variables = valid.slice(0, settingsLimits.variables)
  const taken = new Set(variables.map(({ name }) => name))
  const refused = others.filter(({ name }) => !taken.has(name))
  const leftOut = (why: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`Left out, because ${why}: ${named(names)}.`]
  return {
    variables,
    notes: [
      ...leftOut(
        'nothing fills in their placeholders',
        filledIn.map(({ name }) => name),
      ),
      ...leftOut(
        'a project cannot have these variables or values',
        refused.map(({ name }) => name),
      ),
    ],
  }
}

const Port = z.int().min(1).max(65_535)

function portsOf(value: unknown): { ports: readonly number[]; notes: readonly string[] } {
  if (!isAsked(value)) return { ports: [], notes: [] }
  const all = Array.isArray(value) ? value.slice(0, 50) : [value]
  const read = all.map((one: unknown) => {
    const number =
      typeof one === 'string' ? Number(/^(?:localhost:|127\.0\.0\.1:)?(\d{1,5})$/.exec(one)?.[1]) : one
    return Port.safeParse(number).data
  })
  const ports = [...new Set(read.filter((port) => port !== undefined))]
  const isWhole = read.every((port) => port !== undefined)
  return {
    ports,
    notes: isWhole
      ? []
      : ['forwardPorts names ports of other machines, or what is not a port. These are left out.'],
  }
}

function imageNotes(entries: z.infer<typeof File>, isContainer: boolean): readonly string[] {
  const { image, build, dockerFile, dockerComposeFile, features } = entries
  const own = isContainer
    ? "all sandboxes have the server's own image, which its operator chooses with CONTAINER_IMAGE"
    : "tasks here use the programs of the server's machine, because bubblewrap cannot use an image"
  return [
    ...(isAsked(image)
      ? [`The image ${named([typeof image === 'string' ? image : ''])} is not used: ${own}.`]
      : []),
    ...(isAsked(build) || isAsked(dockerFile) ? [`The Dockerfile is not built: ${own}.`] : []),
    ...(isAsked(dockerComposeFile) ? ['The services of dockerComposeFile are not started.'] : []),
    ...(isAsked(features)
      ? [`Features are not installed: ${named(Object.keys(File.safeParse(features).data ?? {}))}.`]
      : []),
  ]
}

function privilegeNotes(entries: z.infer<typeof File>): readonly string[] {
  const refused = privileges.filter((name) => isAsked(entries[name]))
  if (refused.length === 0) return []
  const each = refused.map((name) => {
    const value = entries[name]
    if (value === true) return name
    return `${name} (${named((Array.isArray(value) ? value : [value]).map(partOf))})`
  })
  return [
    `Refused, because sandboxes get no privileges and no folders or sockets of the machine: ${each.join('; ')}.`,
  ]
}

/** Writes the value of a refused entry, or one element of its list, as a text. Of an object, only the values that are texts are written. */
function partOf(part: unknown): string {
  if (typeof part === 'string') return part
  const texts = Object.entries(File.safeParse(part).data ?? {}).filter(
    ([, value]) => typeof value === 'string',
  )
  return texts.map(([key, value]) => `${key}=${String(value)}`).join(',')
}

function laterNotes(asked: readonly string[]): readonly string[] {
  const later = laterCommands.filter((name) => asked.includes(name))
  return [
    ...(asked.includes('initializeCommand')
      ? ['initializeCommand is not run, because it would run outside of the sandbox.']
      : []),
    ...(later.length > 0 ? [`Not run, because tasks only run the setup command: ${named(later)}.`] : []),
  ]
}

function otherNotes(asked: readonly string[]): readonly string[] {
  const others = asked.filter((name) => !known.has(name))
  return others.length === 0 ? [] : [`Not used here: ${named(others)}.`]
}
