/** The printed form of the bench's results. */
import type { Machine } from './machine.ts'
import type { Line } from './row.ts'

const widths = { name: 80, figure: 17, floor: 51 }

export function heading(machine: Machine): string {
  const { cores, processor, memoryGigabytes, node, platform, loadAverage } = machine
  const shape = `${cores} cores (${processor}), ${memoryGigabytes} GB, ${platform}, Node ${node}, load ${loadAverage.toFixed(1)}`
  return `${shape}\n\n${columns('what', 'figure', 'floor', 'figure / floor')}`
}

/** A line of the table: the name, the figure, its floor, and the figure as a multiple of the floor. */
export function printed({ name, unit, figure, floor }: Line): string {
  return columns(
    name,
    `${rounded(figure)} ${unit}`,
    `${rounded(floor.figure)} ${unit} (${floor.name})`,
    (figure / floor.figure).toFixed(2),
  )
}

function columns(name: string, figure: string, floor: string, ratio: string): string {
  return `${name.padEnd(widths.name)}${figure.padEnd(widths.figure)}${floor.padEnd(widths.floor)}${ratio}`
}

function rounded(figure: number): string {
  return figure.toLocaleString('en', { maximumFractionDigits: figure < 10 ? 2 : figure < 100 ? 1 : 0 })
}
