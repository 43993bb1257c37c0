/**
 * The forms of every kind of event, by version, in `tests/data/events/v<version>.json`. A log cannot be mended: what was
 * appended once must be read for ever. Run as a program (`npx tsx tests/domain/frozenEvents.ts`) this file adds the kinds
 * that are not frozen yet, and the forms by which a kind was widened (a name more in an enum, say): it never takes one away.
 * A kind that is changed in another way gets a new version, and what was frozen is lifted to it.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { eventKinds } from '#domain/events.ts'
import { formsOf } from './zodForms.ts'

const Form = z.strictObject({ data: z.unknown(), content: z.unknown() })
export type Form = z.infer<typeof Form>
/** Forms by type of event. */
const Frozen = z.record(z.string(), z.array(Form))
export type Frozen = z.infer<typeof Frozen>

const folder = new URL('../data/events/', import.meta.url)
const fileOf = (version: number) => new URL(`v${version}.json`, folder)

/** The forms that today's schema of a kind allows: the facts varied first, then the words. */
export function todaysForms(kind: { readonly data: unknown; readonly content: unknown }): readonly Form[] {
  const facts = formsOf(kind.data)
  const [words, ...otherWords] = formsOf(kind.content)
  return [
    ...facts.map((data) => ({ data, content: words })),
    ...otherWords.map((content) => ({ data: facts[0], content })),
  ]
}

/** What is frozen of a version; nothing when no kind has come to it. */
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

/** Whether every form that was there is there still. */
function isWider(today: readonly Form[], before: readonly Form[]): boolean {
  return before.every((form) => today.some((one) => isDeepStrictEqual(one, form)))
}

/** A line for each form, so that a change shows as what it is. */
function inLines(forms: Readonly<Record<string, readonly Form[]>>): string {
  const kinds = Object.entries(forms).map(
    ([type, list]) =>
      `${JSON.stringify(type)}: [\n${list.map((form) => `  ${JSON.stringify(form)}`).join(',\n')}\n]`,
  )
  return `{\n${kinds.join(',\n')}\n}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await freeze()
