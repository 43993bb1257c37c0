/** Whether memory, handles, files and latencies stay flat over hours of load and faults, and whether anything is lost or doubled meanwhile. */
import { join } from 'node:path'
import { root } from '../project.ts'
import type { Line, Row } from '../row.ts'
import { soak, type Soaked } from '../soak/soak.ts'
import type { Curve } from '../soak/samples.ts'
import { trendOf } from '../soak/trend.ts'

const minutes = Number(process.env['SOAK_MINUTES'] ?? 120)
/** The time for starting, for making the tasks and for the checks at the end. */
const besideMs = 1_800_000

export const soakRow: Row = {
  name: 'soak',
  onlyByName: true,
  withinMs: minutes * 60_000 + besideMs,
  remark:
    'The figure is the trend at the end, and its floor the trend at half of the time: 1.00 is flat. SOAK_MINUTES sets the duration (120). The curves are in .cache/soak.svg. Stand-ins for EventStoreDB and MongoDB keep everything in memory.',
  async measure({ folder, atEnd }) {
    const svg = join(root, '.cache/soak.svg')
    const soaked = await soak({ minutes, folder, svg, atEnd, tell: (line) => console.log(line) })
    tellChecked(soaked)
    return soaked.curves.filter(({ points }) => points.length >= 4).map(lineOf)
  },
}

function tellChecked({ checked, accepted, counts, viewers, readAgain, faults, wrong }: Soaked): void {
  const ends = [...checked.ends].map(([end, times]) => `${times} ${end}`).join(', ')
  console.log(
    `${checked.events} events; ${accepted} accepted writes and ${counts.reads} reads, ${counts.leftOut} left out; ${checked.runs} runs (${ends}); ${viewers} viewers, which read again ${readAgain} times; ${faults.length} faults.`,
  )
  for (const sentence of wrong.slice(0, 50)) console.error(sentence)
  if (wrong.length > 0) throw new Error(`${wrong.length} are not as the log says.`)
  console.log(
    'All viewers show what the log says, every accepted write is in it once, and every run ended once.',
  )
}

const units = { memory: 'MB', handles: 'handles', files: 'files', command: 'ms', output: 'ms' } as const
const quantities = {
  memory: 'memory of',
  handles: 'handles of',
  files: 'files of',
  command: 'a command,',
  output: 'live output,',
} as const

function lineOf({ quantity, of, points }: Curve): Line {
  const { halfWay, end, growth, isFlat } = trendOf(points)
  const change = `${growth < 0 ? '' : '+'}${(growth * 100).toFixed(1)} %`
  return {
    name: `soak: ${quantities[quantity]} ${of}: ${isFlat ? 'flat' : 'not flat'}, ${change} in the second half`,
    unit: units[quantity],
    figure: end,
    floor: { name: 'half way', figure: halfWay },
  }
}
