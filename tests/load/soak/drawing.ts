/** The curves of a soak as one SVG: a panel for each quantity, with its axes and unit, and the parts' names at the ends of their lines. */
import type { Fault } from './parts.ts'
import type { Curve } from './samples.ts'

interface Panel {
  readonly quantity: Curve['quantity']
  readonly title: string
  readonly unit: string
  /** Whether each step of the axis is ten times the one before. */
  readonly isLogarithmic: boolean
}

const panels: readonly Panel[] = [
  { quantity: 'memory', title: 'Resident memory', unit: 'MB', isLogarithmic: false },
  { quantity: 'handles', title: 'Open handles', unit: '', isLogarithmic: false },
  { quantity: 'files', title: 'Files on disk', unit: '', isLogarithmic: true },
  { quantity: 'command', title: 'Time of a command, with repetitions', unit: 'ms', isLogarithmic: true },
  { quantity: 'output', title: 'Age of live output', unit: 'ms', isLogarithmic: true },
]

/** The order decides the colour. */
const names = ['command', 'query', 'gateway', 'runner', 'EventStoreDB', 'MongoDB', 'NATS'] as const
const light = ['#0b6bcb', '#b45309', '#15803d', '#be185d', '#6d28d9', '#0e7490', '#57534e']
const dark = ['#6cb6ff', '#f0b072', '#6fd08c', '#f48fb1', '#b69cff', '#63cfe0', '#c4bfb8']

const width = 960
const plot = { left: 64, right: 200, height: 150, above: 40, below: 34 }
const head = 96
const strip = 44
const right = width - plot.right

export interface Drawing {
  readonly title: string
  readonly subtitle: string
  readonly minutes: number
  readonly curves: readonly Curve[]
  readonly faults: readonly (Fault & { readonly minute: number })[]
}

export function drawn({ title, subtitle, minutes, curves, faults }: Drawing): string {
  const panelHeight = plot.above + plot.height + plot.below
  const height = head + strip + panels.length * panelHeight + 8
  const x = (minute: number) => round(plot.left + (minute / minutes) * (right - plot.left))
  const body = panels.map((panel, n) => {
    const top = head + strip + n * panelHeight + plot.above
    return drawnPanel(panel, top, curves, { minutes, x })
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style()}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    `<text class="title" x="${plot.left}" y="36">${escaped(title)}</text>`,
    `<text class="quiet" x="${plot.left}" y="58">${escaped(subtitle)}</text>`,
    ...drawnFaults(faults, height, x),
    ...body.flat(),
    '</svg>',
    '',
  ].join('\n')
}

function style(): string {
  const colours = (of: readonly string[]) =>
    names.map((name, n) => `.${name}{stroke:${of[n]};fill:${of[n]}}`).join('')
  const plain = (paper: string, ink: string, quiet: string, rule: string) =>
    `.paper{fill:${paper}}text{fill:${ink}}.quiet{fill:${quiet}}.rule{stroke:${rule}}.p50,.p99{stroke:${ink};fill:${ink}}`
  return [
    'text{font:12px system-ui,sans-serif;stroke:none}.title{font-size:18px;font-weight:600}.name{font-weight:600}.end{text-anchor:end}.mid{text-anchor:middle}',
    'polyline{fill:none!important;stroke-width:1.6;stroke-linejoin:round}.p99{stroke-dasharray:4 3}.rule{stroke-width:1}.mark{stroke-width:1.5}.paused{fill:none!important}.faint{opacity:.25}',
    plain('#ffffff', '#1c1917', '#57534e', '#e7e5e4'),
    colours(light),
    `@media(prefers-color-scheme:dark){${plain('#131316', '#f5f5f4', '#a8a29e', '#34343a')}${colours(dark)}}`,
  ].join('')
}

/** A row of marks at the times of the faults, each with a faint line through all panels. */
function drawnFaults(faults: Drawing['faults'], height: number, x: (minute: number) => number): string[] {
  const y = head + 14
  const row = faults.flatMap(({ part, kind, minute }) => [
    `<line class="rule" x1="${x(minute)}" x2="${x(minute)}" y1="${y + 8}" y2="${height - plot.below}"/>`,
    `<circle class="mark ${part} ${kind}" cx="${x(minute)}" cy="${y}" r="4"/>`,
  ])
  return [
    ...row,
    `<circle class="mark p50" cx="${right + 16}" cy="${y - 8}" r="4"/>`,
    `<text class="quiet" x="${right + 28}" y="${y - 4}">killed, and started again</text>`,
    `<circle class="mark p50 paused" cx="${right + 16}" cy="${y + 12}" r="4"/>`,
    `<text class="quiet" x="${right + 28}" y="${y + 16}">paused for 5 s</text>`,
  ]
}

interface Time {
  readonly minutes: number
  x(minute: number): number
}

function drawnPanel(panel: Panel, top: number, all: readonly Curve[], time: Time): string[] {
  const curves = all.filter(({ quantity }) => quantity === panel.quantity)
  const values = curves.flatMap(({ points }) => points.map(({ value }) => value))
  if (values.length === 0) return []
  const scale = panel.isLogarithmic ? logarithmic(values) : linear(values)
  const y = (value: number) => round(top + plot.height * (1 - scale.share(value)))
  const bottom = top + plot.height
  const rules = scale.ticks.flatMap((tick) => [
    `<line class="rule" x1="${plot.left}" x2="${right}" y1="${y(tick)}" y2="${y(tick)}"/>`,
    `<text class="quiet end" x="${plot.left - 8}" y="${y(tick) + 4}">${tick.toLocaleString('en')}</text>`,
  ])
  const minutes = ticksUpTo(time.minutes).map(
    (minute) => `<text class="quiet mid" x="${time.x(minute)}" y="${bottom + 18}">${minute}</text>`,
  )
  const lines = curves.map(({ of, points }) => {
    const path = points.map(({ minute, value }) => `${time.x(minute)},${y(value)}`).join(' ')
    return `<polyline class="${of}" points="${path}"/>`
  })
  return [
    `<text class="name" x="${plot.left}" y="${top - 14}">${panel.title}${panel.unit === '' ? '' : `, ${panel.unit}`}</text>`,
    ...rules,
    ...minutes,
    `<text class="quiet" x="${right + 16}" y="${bottom + 18}">minutes</text>`,
    ...lines,
    ...namesAtEnds(curves, y, top, bottom),
  ]
}

const lineHeight = 16

/** The name of each line and its last value, moved apart where they would overlap. */
function namesAtEnds(curves: readonly Curve[], y: (value: number) => number, top: number, bottom: number) {
  const wanted = curves.flatMap(({ of, points }) => {
    const last = points.at(-1)
    return last === undefined ? [] : [{ of, value: last.value, y: y(last.value) }]
  })
  wanted.sort((one, other) => one.y - other.y)
  const places: number[] = []
  for (const { y } of wanted) places.push(Math.max(y, (places.at(-1) ?? top - lineHeight) + lineHeight))
  // What was pushed below the panel pushes the names above it up again.
  for (let n = places.length - 1, most = bottom - 6; n >= 0; n -= 1, most = (places[n + 1] ?? 0) - lineHeight)
    places[n] = Math.min(places[n] ?? 0, most)
  return wanted.map(
    ({ of, value }, n) =>
      `<text class="${of}" style="stroke:none" x="${right + 16}" y="${round((places[n] ?? 0) + 4)}">${of} ${shortened(value)}</text>`,
  )
}

function linear(values: readonly number[]) {
  const most = Math.max(...values, 1)
  const step = stepFor(most / 4)
  const end = Math.ceil(most / step) * step
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, n) => n * step)
  return { ticks, share: (value: number) => value / end }
}

function logarithmic(values: readonly number[]) {
  const from = Math.floor(Math.log10(Math.max(1, Math.min(...values))))
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values, 1))))
  const ticks = Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n))
  const share = (value: number) => (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)
  return { ticks, share }
}

/** The next larger of 1, 2 and 5 times a power of ten. */
function stepFor(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 5, 10].find((times) => times * power >= least) ?? 10) * power
}

function ticksUpTo(minutes: number): readonly number[] {
  const step = stepFor(minutes / 10)
  return Array.from({ length: Math.floor(minutes / step + 1e-9) + 1 }, (_, n) => round(n * step))
}

const round = (value: number) => Math.round(value * 10) / 10
const shortened = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
