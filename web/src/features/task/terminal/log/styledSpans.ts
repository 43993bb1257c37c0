/** Converts a line of output to styled spans; colours are mapped to our own, which are readable in both themes. */
import Anser from 'anser'

interface Span {
  readonly text: string
  readonly className: string
}

/** The classes of the basic colours. Their bright variants look the same. */
const foregrounds: Readonly<Record<string, string>> = {
  'ansi-black': 'text-muted',
  'ansi-red': 'text-bad',
  'ansi-green': 'text-ok',
  'ansi-yellow': 'text-warn',
  'ansi-blue': 'text-run',
  'ansi-magenta': 'text-ansi-magenta',
  'ansi-cyan': 'text-ansi-cyan',
}

const decorations: Readonly<Record<string, string>> = {
  bold: 'font-semibold',
  dim: 'text-muted',
  italic: 'italic',
  underline: 'underline',
  strikethrough: 'line-through',
  hidden: 'invisible',
}

/** The styled spans of `text`. `start` has the colour codes that apply where `text` begins. The text of a span is plain and never markup. */
export function spansOf(start: string, text: string): readonly Span[] {
  if (start === '' && !text.includes('\u001B')) return [{ text, className: '' }]
  return Anser.ansiToJson(start + text, { json: true, remove_empty: true, use_classes: true }).map(
    (piece) => ({
      text: piece.content,
      className: [
        colourOf(piece.fg, piece.fg_truecolor),
        // Text with a background colour gets the same neutral background, because arbitrary colour pairs may be unreadable.
        piece.bg === null ? '' : 'bg-raised',
        ...piece.decorations.map((decoration) => decorations[decoration] ?? ''),
      ]
        .filter(Boolean)
        .join(' '),
    }),
  )
}

function colourOf(name: string | null, truecolor: string | null): string {
  if (name === null) return ''
  if (name === 'ansi-truecolor') return nearest(rgb(truecolor ?? ''))
  const palette = /^ansi-palette-(\d+)$/.exec(name)
  if (palette !== null) return nearest(paletteColour(Number(palette[1])))
  return foregrounds[name.replace('bright-', '')] ?? ''
}

type Rgb = readonly [red: number, green: number, blue: number]

function rgb(value: string): Rgb {
  const [red = 0, green = 0, blue = 0] = value.split(',').map(Number)
  return [red, green, blue]
}

/** A colour of the 256-colour palette: 16 to 231 are a cube of six steps, and the rest is a ramp of grey. */
function paletteColour(index: number): Rgb {
  if (index > 231) return [8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10]
  const step = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const cube = index - 16
  return [step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6)]
}

/** The class of the palette's hue that is closest to a colour. A colour without a hue is muted, or has no class if it is very light or dark. */
function nearest([red, green, blue]: Rgb): string {
  const most = Math.max(red, green, blue)
  const least = Math.min(red, green, blue)
  if (most - least < 40) return most > 170 || most < 60 ? '' : 'text-muted'
  const spread = most - least
  const hue =
    most === red
      ? ((green - blue) / spread + 6) % 6
      : most === green
        ? (blue - red) / spread + 2
        : (red - green) / spread + 4
  const hues = [
    'text-bad',
    'text-warn',
    'text-ok',
    'text-ansi-cyan',
    'text-run',
    'text-ansi-magenta',
    'text-bad',
  ]
  return hues[Math.round(hue)] ?? ''
}
