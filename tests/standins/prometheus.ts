/** Reads the text format of Prometheus as Prometheus does, and refuses what it would refuse. */

type Labels = Readonly<Record<string, string>>

interface Sample {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

export interface ReadMetrics {
  readonly samples: readonly Sample[]
  /** The kinds of metrics by name: `counter`, `gauge`, `histogram`. */
  readonly kinds: ReadonlyMap<string, string>
  /** The value under exactly these labels; `undefined` when there is none. */
  value(name: string, labels?: Labels): number | undefined
  /** The sum of all values of a name whose labels include these. */
  sum(name: string, labels?: Labels): number
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\.)*)"(?:,|$)/y

/** Throws on a line that does not have the format, on a sample without its kind, and on one that occurs twice. */
export function readMetrics(text: string): ReadMetrics {
  if (!text.endsWith('\n')) throw new Error('The last line does not end.')
  const kinds = new Map<string, string>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, kindOf, kind] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? []
    if (kindOf !== undefined && kind !== undefined) kinds.set(kindOf, kind)
    if (line.startsWith('#')) continue
    const [, name, within = '', value] = sampleLine.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`No sample: ${line}`)
    const labels = labelsOf(within, line)
    const family = kinds.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
    if (!kinds.has(family)) throw new Error(`A sample without its kind: ${line}`)
    const key = `${name}{${within}}`
    if (seen.has(key)) throw new Error(`It is told twice: ${line}`)
    seen.add(key)
    samples.push({ name, labels, value: numberOf(value, line) })
  }
  const has = (sample: Sample, labels: Labels) =>
    Object.entries(labels).every(([key, value]) => sample.labels[key] === value)
  return {
    samples,
    kinds,
    value: (name, labels = {}) =>
      samples.find(
        (sample) =>
          sample.name === name &&
          has(sample, labels) &&
          Object.keys(sample.labels).length === Object.keys(labels).length,
      )?.value,
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name && has(sample, labels))
        .reduce((sum, { value }) => sum + value, 0),
  }
}

function labelsOf(within: string, line: string): Labels {
  const labels: Record<string, string> = {}
  label.lastIndex = 0
  let end = 0
  for (let found = label.exec(within); found; found = label.exec(within)) {
    labels[found[1] ?? ''] = (found[2] ?? '').replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
    end = label.lastIndex
  }
  if (end !== within.length) throw new Error(`Labels that cannot be read: ${line}`)
  return labels
}

/** Reads numbers as Go does, with words such as `NaN` in any case. */
function numberOf(text: string, line: string): number {
  if (/^nan$/i.test(text)) return Number.NaN
  if (/^[+-]?inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  const number = Number(text)
  if (Number.isNaN(number)) throw new Error(`No number: ${line}`)
  return number
}
