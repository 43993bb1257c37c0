/**
 * The forms of every kind of event, by version, in `tests/data/events/v<version>.json`. A log cannot be changed, so everything that was appended once
 * must stay readable for ever. As a program (`npx tsx tests/domain/frozenEvents.ts`) this file adds the kinds that are not frozen yet, and the forms
 * by which a kind was widened (such as another name in an enum); it never removes a form. A kind that changes in any other way gets a new version,
 * and the frozen one is lifted to it.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { eventKinds } from '#domain/events.ts'
import { formsOf } from './zodForms.ts'

const Form = z.strictObject({ data: z.unknown(), content: z.unknown() })
export type Form = z.infer<typeof Form>
/** The forms of each type of event. */
const Frozen = z.record(z.string(), z.array(Form))
export type Frozen = z.infer<typeof Frozen>

const folder = new URL('../data/events/', import.meta.url)
const fileOf = (version: number) => new URL(`v${version}.json`, folder)

/** The forms that the current schema of a kind allows: first the data varies, then the content. */
export function todaysForms(kind: { readonly data: unknown; readonly content: unknown }): readonly Form[] {
  const facts = formsOf(kind.data)
  const [words, ...otherWords] = formsOf(kind.content)
  return [
    ...facts.map((data) => ({ data, content: words })),
    ...otherWords.map((content) => ({ data: facts[0], content })),
  ]
}

/** The frozen forms of a version; none when no kind has reached it. */
export async function readFrozen(version: number): Promise<Frozen> {
  try {
    return Frozen.parse(JSON.parse(await readFile(fileOf(version), 'utf8')))
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return {}
    throw fault
  }
}

async function freeze(): Promise<void> {
  await mkdir(folder, { recursive: true })
  const kinds = [...eventKinds.values()]
  for (const version of new Set(kinds.map((kind) => kind.version))) {
    const frozen = await readFrozen(version)
    const added = kinds
      .filter((kind) => kind.version === version && isWider(todaysForms(kind), frozen[kind.type] ?? []))
      .map((kind) => [kind.type, todaysForms(kind)] as const)
    await writeFile(fileOf(version), inLines({ ...frozen, ...Object.fromEntries(added) }))
  }
}

/** Whether all earlier forms are still there. */
function isWider(today: readonly Form[], before: readonly Form[]): boolean {
  return before.every((form) => today.some((one) => isDeepStrictEqual(one, form)))
}

/** Writes each form on a line of its own, so that a diff shows exactly what has changed. */
function inLines(forms: Readonly<Record<string, readonly Form[]>>): string {
  const kinds = Object.entries(forms).map(
    ([type, list]) =>
      `${JSON.stringify(type)}: [\n${list.map((form) => `  ${JSON.stringify(form)}`).join(',\n')}\n]`,
  )
  return `{\n${kinds.join(',\n')}\n}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await freeze()
